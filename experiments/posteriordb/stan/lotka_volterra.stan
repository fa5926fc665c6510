functions {
  array[] real dz_dt(real t, array[] real z, array[] real theta, array[] real x_r,
                     array[] int x_i) {
    real alpha = theta[1];
    real beta = theta[2];
    real gamma = theta[3];
    real delta = theta[4];
    return {(alpha - beta * z[2]) * z[1], (-gamma + delta * z[1]) * z[2]};
  }
}
data {
  int<lower=0> N;
  array[N] real ts;
  array[2] real y_init;
  array[N, 2] real<lower=0> y;
  int<lower=0, upper=1> prior_only;
}
parameters {
  array[4] real<lower=0> theta;
  array[2] real<lower=0> z_init;
  array[2] real<lower=0> sigma;
}
model {
  theta[{1, 3}] ~ normal(1, 0.5);
  theta[{2, 4}] ~ normal(0.05, 0.05);
  sigma ~ lognormal(-1, 1);
  z_init ~ lognormal(log(10), 1);
  if (!prior_only) {
    array[N, 2] real z = integrate_ode_rk45(dz_dt, z_init, 0, ts, theta, rep_array(0.0, 0),
                                            rep_array(0, 0), 1e-5, 1e-3, 5e2);
    for (k in 1 : 2) {
      y_init[k] ~ lognormal(log(z_init[k]), sigma[k]);
      y[ : , k] ~ lognormal(log(z[ : , k]), sigma[k]);
    }
  }
}
