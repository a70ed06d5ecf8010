#include "model/schema_rules.hpp"

#include "model/catalog.hpp"

namespace sluice {
namespace {

std::vector<SchemaVariant> layer_variants() {
  std::vector<SchemaVariant> variants;
  for (const LayerType* type : layer_catalog().entries()) {
    SchemaVariant variant = {{{"type", type->name}}, layer_record(*type)};
    for (const Field& field : type->parameters) variant.with_expressions.push_back(field.name);
    variants.push_back(std::move(variant));
  }
  variants.push_back({{{"repeat", ""}}, repeat_record(), {"repeat"}});
  variants.push_back({{{"block", ""}}, block_use_record()});
  return variants;
}

}  // namespace

SchemaRules model_schema_rules() {
  return {.may_have_base = true,
          .shared = {{"layer", {.variants = layer_variants()}},
                     {declaration_record().name, {.alone = "default"}}}};
}

}  // namespace sluice
