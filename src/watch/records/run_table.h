// RunTable: runs as rows of a table, filtered and sorted, as text for people or JSON for programs.
// Pure functions; thread-safe.
#pragma once

#include <string>
#include <vector>

#include "watch/records/run_record.h"

namespace trireme::watch {

// The columns by which runs can be filtered and sorted: name, model, data, strategy, workers, epochs, accuracy, loss,
// r2, mae, rmse, f1, speed, time, state, started.
std::vector<std::string> run_columns();

// Keeps the runs that fulfil all conditions: "model=lenet5,seed=2". A column's text has to contain the value; an option
// of `train` that is no column has to be equal to it. A condition of another form or an unknown name is a user error.
std::vector<RunRecord> filter_runs(std::vector<RunRecord> runs, const std::string& conditions);

// Sorts by a column, the best or newest first where a number is better when it is larger (accuracy, speed, started),
// else the smallest first; runs without a value come last.
std::vector<RunRecord> sort_runs(std::vector<RunRecord> runs, const std::string& column);

// A header and one line per run.
std::vector<std::string> table_lines(const std::vector<RunRecord>& runs);
// A JSON array with one object per run.
std::string table_json(const std::vector<RunRecord>& runs);

}  // namespace trireme::watch
