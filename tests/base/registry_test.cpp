#include "base/text/registry.h"

#include <gtest/gtest.h>

#include "support/core_errors.h"

namespace trireme::base {
namespace {

using support::sentence;

struct Ship {
  std::string name;
  int oars = 0;
};

RegistryOf<Ship> ships() {
  RegistryOf<Ship> all("ship");
  all.add({"trireme", 170});
  all.add({"bireme", 120});
  all.add({"penteconter", 50});
  return all;
}

TEST(Registry, KeepsItsOrder) {
  const RegistryOf<Ship> all = ships();
  EXPECT_EQ(all.names(), (std::vector<std::string>{"trireme", "bireme", "penteconter"}));
  int oars = 0;
  for (const Ship& ship : all.rows()) oars += ship.oars;
  EXPECT_EQ(oars, 340);
}

TEST(Registry, FindsRowsByName) {
  const RegistryOf<Ship> all = ships();
  ASSERT_NE(all.find("bireme"), nullptr);
  EXPECT_EQ(all.find("bireme")->oars, 120);
  EXPECT_EQ(&all.get("bireme"), all.find("bireme"));
  EXPECT_EQ(all.find(""), nullptr);
  EXPECT_EQ(all.find("birem"), nullptr);
}

TEST(Registry, AnEmptyOneFindsNothing) {
  const RegistryOf<Ship> none("ship");
  EXPECT_EQ(none.find("trireme"), nullptr);
  EXPECT_TRUE(none.names().empty());
  EXPECT_NE(sentence(ErrorKind::user, [&] { none.get("trireme"); }).find("there is no ship 'trireme'"),
            std::string::npos);
}

TEST(Registry, AnUnknownNameIsAUserErrorWithTheNearest) {
  const RegistryOf<Ship> all = ships();
  EXPECT_EQ(sentence(ErrorKind::user, [&] { all.get("triremes"); }),
            "there is no ship 'triremes'; did you mean 'trireme'? (there are: trireme, bireme, penteconter)");
}

TEST(Registry, ASecondRowOfANameIsRefused) {
  RegistryOf<Ship> all = ships();
  EXPECT_NE(sentence(ErrorKind::internal,
                     [&] {
                       all.add({"bireme", 2});
                     })
                .find("two rows for ship 'bireme'"),
            std::string::npos);
  EXPECT_EQ(all.get("bireme").oars, 120);
}

TEST(Registry, RowsStayWhereTheyAre) {
  RegistryOf<Ship> all = ships();
  const Ship* first = all.find("trireme");
  for (int i = 0; i < 100; ++i) all.add({"ship " + std::to_string(i), i});
  EXPECT_EQ(all.find("trireme"), first);
}

TEST(Registry, NamesMayBeLiterals) {
  struct Row {
    const char* name;
  };
  RegistryOf<Row> all("row");
  all.add({"one"});
  EXPECT_NE(all.find(std::string("one")), nullptr);
}

}  // namespace
}  // namespace trireme::base
