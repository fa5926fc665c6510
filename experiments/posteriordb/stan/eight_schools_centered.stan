data {
  int<lower=0> J;
  array[J] real y;
  array[J] real<lower=0> sigma;
  int<lower=0, upper=1> prior_only;
}
parameters {
  array[J] real theta;
  real mu;
  real<lower=0> tau;
}
model {
  tau ~ cauchy(0, 5);
  theta ~ normal(mu, tau);
  mu ~ normal(0, 5);
  if (!prior_only) y ~ normal(theta, sigma);
}
