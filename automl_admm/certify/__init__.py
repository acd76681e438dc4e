"""Certificates: what can be said of a pipeline on data that nobody has seen, and how surely.

What certifies goes through these, in this order:

1. before the search, `planning.plan` says how many rows to set aside and what they cannot do;
2. `margins.tighten` gives the limits that the search aims at;
3. `sequence.order` chooses at most ten contenders, by what the search saw (`margins.slack_of`);
4. `looks.take_look` writes the look down and says how much risk it may spend;
5. `sequence.walk` tests them with `verdicts.judge` at that risk and chooses the one to ship;
6. `certificate.write_certificate` keeps it; `verification` explains it and checks it again.

A first look has half of the promised risk. What comes before it plans with that half as well:
`looks.risk_of_look(1, risk)`.
"""
