"""A twin: a simulated drive fitted to measurements of a real one, so that it answers for the real one.

api                 `pslc.fit`: from recordings, logs or published figures to a report
datasets            measured runs as datasets: jobs, and the features of each
priors              prior knowledge: capacity, link, parts, the load that wrote the data
published_curve     published figures as a write curve
model               a drive as a few numbers that data can determine, and the profile they make
residuals           log ratios of measured to simulated speed, weighted
optimizer           least squares over simulated runs, of one firmware model
geometry_ensemble   the same values in alternative geometries
uncertainty         covariance: Jacobian, profile likelihood, alternative geometries
identifiability     which suite determines which parameter
initial_guess       the laws of docs/model.md solved for parameters
initial_fit         the first write, and the firmware models that can produce it
start_values        starts of a fit to more datasets
small_io            fits to small requests
alternatives        the same values under other rules
pool                a pool of processes
pipeline            all firmware models beside each other, in stages
fit_result          candidates and their statistics
predict             suites that were not measured, and suites that would tell firmware models apart
profile_writer      the twin as a file, with the provenance of each value
fit_report          sentences, pictures, tables and JSON
"""
