// Groups whose effects have one sign in common, which the data do not tell.
data {
  int<lower=0> J;
  vector[J] y;
  vector<lower=0>[J] error;
  int<lower=0, upper=1> prior_only;
}
parameters {
  real mu;
  real<lower=0> tau;
  vector[J] z;
}
transformed parameters {
  vector[J] theta = mu + tau * z;
}
model {
  mu ~ normal(1, 3);
  tau ~ normal(0, 1);
  z ~ std_normal();
  if (!prior_only) y ~ normal(abs(theta), error);
}
