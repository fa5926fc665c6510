"""Each library in one file, as its own documentation has it: `sample(density, limits, seed)`.

Lines that are there for the comparison's sake end with `# here`; all others count as what a user
has to write.
"""
