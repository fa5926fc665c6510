"""What `aptmc --help` and the help of each command say beyond their options."""

EXAMPLES = """\
examples:
  aptmc demo                                    see it at work, in two minutes
  aptmc run model.py:problem --budget 10min --store run.zarr
  aptmc watch run.zarr                          from another terminal
  aptmc summary run.zarr --json
  aptmc report run.zarr                         one HTML file that opens anywhere
  aptmc resume run.zarr model.py:problem --budget 1h
  aptmc replay run.zarr model.py:problem        the same draws again, bit for bit?
  aptmc plan run.zarr --workers 4,64,1024       what would more processors bring?

exit codes: 0 all is well, 1 the run failed, 2 the command was not understood, 3 a replay differs,
130 interrupted from the keyboard
"""
DEMO = """\
Infers how fast prey are born and eaten, and how fast their predators die, from ten counts: on all
processors, with a live view. Then it lets everyone wait for the slowest for a while, as usual, and
writes a report on both. Takes a minute and a half.

examples:
  aptmc demo
  aptmc demo --budget 2min --workers 4
"""
RUN = """\
Samples a problem until the budget is spent, and prints the posterior. Ladder, proposals and
deadlines are found in the first quarter of the budget. Ctrl-C ends it early with the result so far.

examples:
  aptmc run model.py:problem --budget 10min
  aptmc run model.py:problem --budget 2h --workers 8 --store run.zarr --report run.html
  aptmc run package.models:make_problem --budget 30s --quiet --json > posterior.json
  aptmc run model.py:problem --budget 2h --on dask:tcp://head:8786 --store run.zarr

where model.py has something like
  problem = aptmc.Tempered(log_likelihood, aptmc.Prior(x=scipy.stats.norm(0, 10)))
"""
RESUME = """\
Goes on where a stored run stopped or was killed, also with another number of processors. A store
holds no functions, so the problem is given again; another one is refused.

example:
  aptmc resume run.zarr model.py:problem --budget 1h
"""
REPLAY = """\
Computes every move of a stored run again, on one processor or many, and compares all draws bit for
bit. Exit code 3 says that they differ.

examples:
  aptmc replay run.zarr model.py:problem
  aptmc replay run.zarr model.py:problem --workers 8
"""
SUMMARY = """\
Means, intervals, effective draws and advice, also while the run goes on.

examples:
  aptmc summary run.zarr
  aptmc summary run.zarr --json | jq .posterior.x.mean
"""
REPORT = """\
Writes the summary, advice, plots, settings and how to reproduce them to one file that opens
offline, also on a phone; also while the run goes on.

example:
  aptmc report run.zarr --output run.html
"""
WATCH = """\
A live view of a run that another process computes: what each of its processors is doing and for how
long, so that a stuck simulation is plain to see. Leaving it, by Ctrl-C, does nothing to the run.

examples:
  aptmc watch run.zarr
  aptmc watch run.zarr --json | jq '.workers[] | select(.seconds > 60)'
"""
PLAN = """\
Predict, from a run that has been made (a pilot), what runs on other numbers of processors would be
like: how busy processors are, how many moves and effective draws an hour brings, how many chains
and which deadlines serve best, and from where on one coordinator is not enough. Nothing of the
problem is computed: the coordinator runs in virtual time, with the moves and hold times of the
pilot.

examples:
  aptmc plan pilot.zarr --workers 4,64,1024
  aptmc plan pilot.zarr --workers 256 --latency 7ms           on a cluster with slow messages
  aptmc plan pilot.zarr --workers 64 --chains-per-rung 11 --every 20ms   exactly this

where the pilot was made by
  aptmc run model.py:problem --budget 5min --keep all --store pilot.zarr
A minute will do if each rung makes some hundreds of moves. --keep all lets exchanges be simulated,
too; otherwise effective draws are a rough guess.
"""
REPRODUCE = """\
Runs an experiment of the paper in virtual time, and prints its tables beside ours. Figures go to
results/. Needs a clone of the repository.

example:
  aptmc reproduce gamma --scale 1
"""
DOCTOR = """\
Says what this machine is like, and tests on two far modes, in compiled code and on worker
processes, whether the results are right and how fast they come. Exit code 1: a test failed.

examples:
  aptmc doctor
  aptmc doctor --json
"""
STORE_HELP = "the folder of the run, run.zarr say"
PROBLEM_HELP = "where the problem is: file.py:name or package.module:name, a problem or a function"
