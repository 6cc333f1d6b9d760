import { ProviderMetadata } from '@countersign/protocol/oauth/provider-metadata'
import type { Config } from '#platform/config/config.ts'
import type { MetadataPart } from '#platform/module/define-module.ts'
import { parse } from '#platform/schema.ts'

/**
 * Builds the provider metadata from the parts of the modules (OpenID Connect Discovery §3, RFC 8414 §2). Throws if the
 * result is not complete.
 */
export function buildProviderMetadata(parts: readonly MetadataPart[], config: Config): ProviderMetadata {
  const metadata = Object.fromEntries(parts.flatMap((part) => Object.entries(part(config))))
  return parse(ProviderMetadata, metadata)
}
