#include "comm/transport/tcp/tls.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "base/error.h"
#include "comm/transport/link/link.h"
#include "comm/transport/tcp/not_now.h"

namespace trireme::comm {

// Guarded by `mutex`.
struct TlsSession {
  int descriptor = -1;
  base::Digest key{};
  std::uint64_t records_of_a_key = 0, records = 0;  // written with the current key
  SSL* ssl = nullptr;
  bool is_ready = false;  // the handshake is done
  std::vector<char> out;  // encrypted bytes; those from out_begin on are not sent yet
  std::size_t out_begin = 0;
  std::size_t owed = 0;      // bytes of the caller in `out` that send() has not counted as sent
  int error = 0;             // errno of a failed read
  bool is_at_end = false;    // the other side closed
  std::string failure;       // once set, nothing works any more
  std::string send_failure;  // once set, sending fails; bytes that arrived before can still be received
  mutable std::mutex mutex;

  TlsSession() = default;
  ~TlsSession() {
    SSL_free(ssl);
    OPENSSL_cleanse(key.data(), key.size());
  }
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  bool has_unsent() const { return out_begin < out.size(); }
  [[noreturn]] void end_sending(const std::string& why);
  void check() const;
  void flush();
  void handle_failed_call(int result);
  void encrypt(std::span<const std::byte> bytes);
};

namespace {

constexpr std::size_t kRecord = SSL3_RT_MAX_PLAIN_LENGTH;
// Encrypted for one system call, and received with one.
constexpr std::size_t kSendAtOnce = 8 * kRecord, kReceiveAtOnce = std::size_t{8} * SSL3_RT_MAX_PACKET_SIZE;
constexpr std::array<unsigned char, 2> kCipher = {0x13, 0x01};  // the number of the cipher named below
constexpr const char* kCipherName = "TLS_AES_128_GCM_SHA256";
constexpr std::array<unsigned char, 7> kIdentity = {'t', 'r', 'i', 'r', 'e', 'm', 'e'};

template <class T>
T* made(T* thing) {
  base::check(thing != nullptr, "OpenSSL has no memory");
  return thing;
}

// Collects what OpenSSL writes; flush() sends it. So writing always succeeds for OpenSSL.
int write_bytes(BIO* bio, const char* bytes, int count) {
  auto& session = *static_cast<TlsSession*>(BIO_get_data(bio));
  session.out.insert(session.out.end(), bytes, bytes + count);
  return count;
}

int read_bytes(BIO* bio, char* bytes, int count) {
  auto& session = *static_cast<TlsSession*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  const ssize_t got = recv(session.descriptor, bytes, static_cast<std::size_t>(count), 0);
  if (got == 0) session.is_at_end = true;
  if (got < 0 && is_not_now(errno))
    BIO_set_retry_read(bio);
  else if (got < 0)
    session.error = errno;
  return static_cast<int>(got);
}

long control(BIO*, int what, long, void*) { return what == BIO_CTRL_FLUSH ? 1 : 0; }

// The connection's key in OpenSSL's form: a session that both sides already know.
SSL_SESSION* known_session(SSL* ssl) {
  const auto& key = static_cast<const TlsSession*>(SSL_get_app_data(ssl))->key;
  SSL_SESSION* known = made(SSL_SESSION_new());
  const bool is_good =
      SSL_SESSION_set1_master_key(known, reinterpret_cast<const unsigned char*>(key.data()), key.size()) == 1 &&
      SSL_SESSION_set_cipher(known, SSL_CIPHER_find(ssl, kCipher.data())) == 1 &&
      SSL_SESSION_set_protocol_version(known, TLS1_3_VERSION) == 1;
  if (is_good) return known;
  SSL_SESSION_free(known);
  return nullptr;
}

int offer_key(SSL* ssl, const EVP_MD*, const unsigned char** identity, std::size_t* size, SSL_SESSION** known) {
  *identity = kIdentity.data();
  *size = kIdentity.size();
  *known = known_session(ssl);
  return *known != nullptr ? 1 : 0;
}

int find_key(SSL* ssl, const unsigned char*, std::size_t, SSL_SESSION** known) {
  *known = known_session(ssl);
  return *known != nullptr ? 1 : 0;
}

// Shared by all connections; immutable once made.
struct Common {
  SSL_CTX* context = made(SSL_CTX_new(TLS_method()));
  BIO_METHOD* bytes = made(BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "trireme"));

  Common() {
    BIO_meth_set_write(bytes, write_bytes);
    BIO_meth_set_read(bytes, read_bytes);
    BIO_meth_set_ctrl(bytes, control);
    const bool is_good = SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1 &&
                         SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) == 1 &&
                         SSL_CTX_set_ciphersuites(context, kCipherName) == 1 &&
                         SSL_CTX_set_num_tickets(context, 0) == 1;
    base::check(is_good, "OpenSSL has no TLS 1.3 with {}", kCipherName);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_default_read_buffer_len(context, kReceiveAtOnce);
    SSL_CTX_set_psk_use_session_callback(context, offer_key);
    SSL_CTX_set_psk_find_session_callback(context, find_key);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  }
  ~Common() {
    SSL_CTX_free(context);
    BIO_meth_free(bytes);
  }
  Common(const Common&) = delete;
  Common& operator=(const Common&) = delete;
};

const Common& common() {
  static const Common one;
  return one;
}

}  // namespace

void TlsSession::end_sending(const std::string& why) {
  send_failure = why;
  throw GoneError(why);
}

void TlsSession::check() const {
  if (!failure.empty()) throw GoneError(failure);
}

// Sends the encrypted bytes, as far as the socket takes them now.
void TlsSession::flush() {
  while (has_unsent()) {
    const ssize_t count = ::send(descriptor, out.data() + out_begin, out.size() - out_begin, MSG_NOSIGNAL);
    if (count < 0 && is_not_now(errno)) return;
    if (count < 0) end_sending(std::strerror(errno));
    out_begin += static_cast<std::size_t>(count);
  }
  out.clear();
  out_begin = 0;
}

// Handles a failed OpenSSL call. If the call only has to be repeated later, does nothing; otherwise sets `failure`,
// which the caller reports.
void TlsSession::handle_failed_call(int result) {
  const int what = SSL_get_error(ssl, result);
  if (what == SSL_ERROR_WANT_READ || what == SSL_ERROR_WANT_WRITE) return;
  const char* reason = ERR_reason_error_string(ERR_peek_error());
  if (error != 0)
    failure = std::strerror(error);
  else if (is_at_end || what == SSL_ERROR_ZERO_RETURN)
    failure = "the connection was closed";
  else
    failure =
        fmt::format("what it sent is not encrypted with this connection's key ({})", reason ? reason : "no reason");
  if (error == 0 && !is_at_end && has_unsent())  // sends OpenSSL's alert, if possible
    (void)::send(descriptor, out.data() + out_begin, out.size() - out_begin, MSG_NOSIGNAL);
}

// Encrypts into `out`. REQUIRES: at most kSendAtOnce bytes.
void TlsSession::encrypt(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (records == records_of_a_key) {
      if (SSL_key_update(ssl, SSL_KEY_UPDATE_NOT_REQUESTED) != 1) end_sending("OpenSSL makes no new key");
      records = 0;
    }
    const int count = SSL_write(ssl, bytes.data(), static_cast<int>(bytes.size()));
    if (count <= 0) handle_failed_call(count);
    check();
    if (count <= 0) end_sending("OpenSSL takes nothing");
    ++records;
    owed += static_cast<std::size_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

Tls::Tls(int descriptor, Side side, const base::Digest& key, std::uint64_t records_of_a_key)
    : session_(std::make_unique<TlsSession>()) {
  session_->descriptor = descriptor;
  session_->key = key;
  session_->records_of_a_key = records_of_a_key;
  session_->ssl = made(SSL_new(common().context));
  SSL_set_app_data(session_->ssl, session_.get());
  BIO* bio = made(BIO_new(common().bytes));
  BIO_set_data(bio, session_.get());
  BIO_set_init(bio, 1);
  SSL_set_bio(session_->ssl, bio, bio);
  if (side == Side::host)
    SSL_set_accept_state(session_->ssl);
  else
    SSL_set_connect_state(session_->ssl);
  if (side == Side::guest) SSL_set_verify(session_->ssl, SSL_VERIFY_PEER, nullptr);  // rejects every certificate
}

Tls::~Tls() = default;

bool Tls::shake_hands() {
  TlsSession& session = *session_;
  const std::lock_guard lock(session.mutex);
  if (session.is_ready) return true;
  session.check();
  if (!SSL_is_init_finished(session.ssl)) {
    ERR_clear_error();
    if (const int result = SSL_do_handshake(session.ssl); result <= 0) session.handle_failed_call(result);
    // A handshake without the key would use certificates, which prove nothing here.
    if (SSL_is_init_finished(session.ssl) && SSL_session_reused(session.ssl) != 1)
      session.failure = "it did not use this connection's key";
    session.check();
  }
  session.flush();
  session.is_ready = SSL_is_init_finished(session.ssl) && !session.has_unsent();
  return session.is_ready;
}

bool Tls::wants_to_write() const {
  const std::lock_guard lock(session_->mutex);
  return session_->has_unsent();
}

// Encrypts and sends blocks of several records. A block counts as sent when all of it is; the rest of one is sent first
// when the caller offers its bytes again.
std::size_t Tls::send(std::span<const std::byte> bytes) {
  TlsSession& session = *session_;
  const std::lock_guard lock(session.mutex);
  session.check();
  if (!session.send_failure.empty()) throw GoneError(session.send_failure);
  ERR_clear_error();
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    if (session.owed == 0) session.encrypt(bytes.subspan(sent, std::min(kSendAtOnce, bytes.size() - sent)));
    session.flush();
    if (session.has_unsent()) break;
    sent += std::min(session.owed, bytes.size() - sent);
    session.owed = 0;
  }
  return sent;
}

std::size_t Tls::receive(std::span<std::byte> bytes) {
  TlsSession& session = *session_;
  const std::lock_guard lock(session.mutex);
  session.check();
  ERR_clear_error();
  std::size_t got = 0;
  while (got < bytes.size()) {
    const auto most = std::min(bytes.size() - got, kReceiveAtOnce);
    const int count = SSL_read(session.ssl, bytes.data() + got, static_cast<int>(most));
    if (count <= 0) {
      session.handle_failed_call(count);
      break;
    }
    got += static_cast<std::size_t>(count);
    if (SSL_has_pending(session.ssl) == 0) break;
  }
  if (got == 0) session.check();
  return got;  // a failure after these bytes is reported by the next call
}

}  // namespace trireme::comm
