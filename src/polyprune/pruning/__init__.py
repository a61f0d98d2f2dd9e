"""Which components stay: four independent values, criterion × budget × setting × repair.

A *criterion* ranks components (`criteria.criterion`: gradient rules, magnitude, chance), a *budget*
says how much may stay and selects (`selection.budgets`: sparsity, parameters, time), a *setting*
says whether languages share one subnetwork (`setting`), a *repair* changes the weights that are
left (`repair`). Each is a value with one method, so a new one is a new value and no `if` elsewhere.
`prune.prune_model` carries out all four on a loaded model and writes nothing.

`gates` holds what masks are made of: fixed, learned and dynamic gates, for one size or for all.
"""
