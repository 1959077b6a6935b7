// user_secret(): the user's secret for jobs whose launcher passes no token.
// Thread-safe.
//
// The secret is in the file .trireme/job_secret in the home folder, mode 0600, so all processes of the user on hosts
// that share this folder read the same one. The first process creates it, atomically, from 32 random bytes.
#pragma once

#include <string>

namespace trireme::cluster {

// A file that cannot be created or read, or that other users could read, is a user error that says what to do.
std::string user_secret(const std::string& home);

}  // namespace trireme::cluster
