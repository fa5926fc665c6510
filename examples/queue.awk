# A single server: customers come and wait. Prints the mean wait of the first `n` customers, and the
# share that did not wait at all.
# Use: awk -v seed=1 -v arrivals=0.5 -v services=1.0 -v n=500 -f queue.awk
BEGIN {
    srand(seed)
    wait = 0; total = 0; none = 0
    for (customer = 1; customer <= n; customer++) {
        total += wait
        if (wait == 0) none++
        service = -log(1 - rand()) / services
        gap = -log(1 - rand()) / arrivals
        wait = wait + service - gap
        if (wait < 0) wait = 0
    }
    printf "%.10g %.10g\n", total / n, none / n
}
