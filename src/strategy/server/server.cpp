#include "strategy/server/server.h"

#include "base/error.h"
#include "strategy/server/hand_over.h"
#include "strategy/server/server_sessions.h"

namespace trireme::strategy {

Server::Server(comm::Group& group, const RoleMap& roles, int server, std::shared_ptr<const optim::Optimizer> optimizer,
               double max_norm)
    : group_(group), roles_(roles), server_(server), optimizer_(std::move(optimizer)), max_norm_(max_norm) {}

Server::~Server() = default;

void Server::take_over() {
  shard_ = receive_shard(group_.mailbox(), roles_.process_of_worker(0), optimizer_);
  is_current_ = true;
}

std::unique_ptr<ServerSide> Server::serve(const ServeOptions& options) {
  base::check(options.returns_gradients || is_current_, "server {} has no weights to serve", server_);
  if (options.returns_gradients) is_current_ = false;
  ServeOptions recorded = options;
  recorded.spans = spans_;
  return std::make_unique<ServerSessions>(group_, roles_, server_, options.returns_gradients ? nullptr : shard_.get(),
                                          max_norm_, recorded);
}

void Server::give_back() {
  for (int worker = 0; worker < roles_.workers; ++worker)
    send_back(group_.mailbox(), roles_.process_of_worker(worker), is_current_ ? shard_.get() : nullptr);
}

}  // namespace trireme::strategy
