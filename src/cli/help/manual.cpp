// `trireme manual DIR`: man1/trireme.1, man1/trireme-VERB.1, bash/trireme and zsh/_trireme in DIR.
#include <filesystem>

#include "base/error.h"
#include "base/system/files.h"
#include "cli/cli.h"
#include "cli/help/completion.h"
#include "cli/help/man_page.h"

namespace trireme::cli {

void write_manual(const train::Registry& registry, const std::string& folder) {
  const std::filesystem::path root = folder;
  std::error_code cause;
  for (const char* part : {"man1", "bash", "zsh"})
    if (std::filesystem::create_directories(root / part, cause); cause)
      base::user_error("cannot make the folder {}: {}", (root / part).string(), cause.message());
  const std::vector<Verb> all = verbs(registry);
  base::write_text_atomically((root / "man1/trireme.1").string(), program_man_page(all));
  for (const Verb& verb : all)
    base::write_text_atomically((root / "man1" / (std::string("trireme-") + verb.name + ".1")).string(),
                                verb_man_page(verb));
  base::write_text_atomically((root / "bash/trireme").string(), bash_completion(registry, all));
  base::write_text_atomically((root / "zsh/_trireme").string(), zsh_completion(registry, all));
}

}  // namespace trireme::cli
