import { isDisplayName } from '@countersign/protocol/formats/display-name'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { Refusal, refusals } from '#platform/refusal.ts'
import { requireRedirectUri, type Ours } from './redirect-uri.ts'

/** What an app says of itself. */
export type Description = { name: string; redirectUris: string[] }

const refuse = refusals({ invalid_client: [400, 'The document at this client_id does not describe a client.'] })

const redirectUrisMax = 50

/** What counts here of the metadata of RFC 7591 §2. Logos, links and keys are not read. */
const Document = Type.Object({
  client_id: Type.String(),
  redirect_uris: Type.Array(Type.String(), { minItems: 1, maxItems: redirectUrisMax }),
  client_name: Type.Optional(Type.String()),
  token_endpoint_auth_method: Type.Optional(Type.String()),
  grant_types: Type.Optional(Type.Array(Type.String())),
})

/**
 * Reads the document at a client id (OAuth Client ID Metadata Document §4.1). It names itself, letter for letter, so
 * that nobody else's document is taken for it; and no secret, which would be everybody's. Refuses `invalid_client`,
 * and says what is wrong: whoever wrote it has it before them.
 */
export function readClientDocument(document: unknown, clientId: string, ours: Ours): Description {
  const because = (what: string) => refuse.invalid_client({ sentence: `The document at this client_id ${what}` })
  if (!Value.Check(Document, document)) throw because('lacks its client_id or redirect_uris, or has them of odd types.')
  if (document.client_id !== clientId) throw because('names another client_id than its own address.')
  if ('client_secret' in document || 'client_secret_expires_at' in document)
    throw because('has a client secret, which everybody can read.')
  if ((document.token_endpoint_auth_method ?? 'none') !== 'none')
    throw because('asks for a token_endpoint_auth_method other than none, which is the only one here.')
  if (document.grant_types?.includes('authorization_code') === false)
    throw because('has grant_types without authorization_code.')

  const redirectUris = [...new Set(document.redirect_uris.filter((uri) => isAcceptable(uri, ours)))]
  if (redirectUris.length === 0) throw because('has no redirect URI that may be registered here.')
  const { client_name: name = '' } = document
  return { name: isDisplayName(name) ? name : new URL(clientId).host, redirectUris }
}

/** Whether an app could register a redirect URI. A document is written for many providers: others may stand beside. */
function isAcceptable(uri: string, ours: Ours): boolean {
  try {
    requireRedirectUri(uri, { isPublic: true, ours })
    return uri.length <= 2000
  } catch (error) {
    if (error instanceof Refusal) return false
    throw error
  }
}
