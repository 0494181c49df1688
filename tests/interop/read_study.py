"""Opens a sweep's Optuna journal with Optuna and prints its content as JSON, after asking Optuna for one more trial.

    python read_study.py JOURNAL NAME

Any warning from Optuna while it reads is an error.
"""

import json
import sys
import warnings

import optuna
from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend


def described(trial):
    return {
        "number": trial.number,
        "state": trial.state.name,
        "value": trial.value,
        "params": trial.params,
        "reports": {str(step): value for step, value in trial.intermediate_values.items()},
        "attributes": trial.user_attrs,
    }


def main(path, name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        study = optuna.load_study(study_name=name, storage=JournalStorage(JournalFileBackend(path)))
        trials = study.get_trials()
        for trial in trials:
            for parameter, distribution in trial.distributions.items():
                assert distribution._contains(distribution.to_internal_repr(trial.params[parameter])), parameter
    found = {
        "direction": study.direction.name,
        "attributes": study.user_attrs,
        "best": study.best_trial.number,
        "trials": [described(trial) for trial in trials],
        "distributions": {name: repr(kind) for trial in trials for name, kind in trial.distributions.items()},
        "importances": list(get_param_importances(study, evaluator=PedAnovaImportanceEvaluator()).items()),
    }
    # Optuna's own sampler continues from the trials it has read.
    study.sampler = optuna.samplers.TPESampler(seed=1)
    found["next"] = study.ask(study.best_trial.distributions).number
    print(json.dumps(found))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: read_study.py JOURNAL NAME")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
    main(*sys.argv[1:])
