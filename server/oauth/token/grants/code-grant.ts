import type { TokenRequest } from '@countersign/protocol/oauth/authorize'
import type { RegisteredApp } from '#clients/registration/directory.ts'
import { missing, type Client } from '#clients/registration/authentication/authentication.ts'
import { resolveFieldAlias } from '#platform/http/body.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import { defineErrors } from '#platform/api-error.ts'
import {
  findFamilyByInitialCredential,
  redeemAuthorizationCode,
  revokeFamilyOnReuse,
  type InitialCredential,
  type IssuedTokens,
  type TokenFamily,
  type TokenStatements,
} from '#tokens/families/family.ts'
import { defineFamilyGrant, type FamilyRequest } from './resource-grant.ts'

const errors = defineErrors({
  invalid_request: [400, 'The token request is malformed.'],
  invalid_target: [400, 'The app may not act for the user at the resource.'],
  invalid_grant: [400, 'The authorization code is invalid, expired, already used, or was issued to another client.'],
  invalid_client: [401, 'The credential was issued without code_challenge. Authenticate with the client secret.'],
})

const ofAssertion = { sentence: 'The assertion is invalid, expired, already used, or was issued to another client.' }

type CodeExchangeRequest = FamilyRequest & { code: string; redirectUri: string; codeVerifier: string | undefined }

const verifierPattern = /^[A-Za-z0-9._~-]{43,128}$/

/** The grant `authorization_code` (RFC 6749 §4.1.3). PKCE can replace the authentication of the client. */
export const authorizationCodeGrant = defineFamilyGrant({
  name: 'authorization_code',
  clients: 'any',
  parse: parseCodeExchange,
  findUnused: async (db, { code }) => {
    const family = await findFamilyByInitialCredential(db, 'code', code)
    return family?.codeRedeemedAt === null ? family : undefined
  },
  redeem: (deps, client, request, now) =>
    exchangeAuthorizationCode(deps, client, { ...request, kind: 'code', token: request.code }, now),
  resourceError: errors.invalid_target,
})

/** Parses the parameters of a code exchange. It has no scope: the code was issued for one. */
function parseCodeExchange(body: TokenRequest): CodeExchangeRequest {
  const { code, resource } = body
  const redirectUri = resolveFieldAlias(body.redirect_uri, body.redirectUri)
  const codeVerifier = resolveFieldAlias(body.code_verifier, body.codeVerifier)
  if (!code) throw missing('code')
  if (!redirectUri) throw missing('redirect_uri')
  if (codeVerifier !== undefined && !verifierPattern.test(codeVerifier))
    throw errors.invalid_request({ sentence: 'code_verifier must be 43 to 128 unreserved characters.' })
  return { code, redirectUri, codeVerifier, resource, scope: undefined }
}

/** Credential that a client presents, with the verifier of its PKCE challenge if it sent one. */
type Presented = { kind: InitialCredential; token: string; redirectUri: string; codeVerifier: string | undefined }

/**
 * Redeems an authorization code or an assertion once (RFC 6749 §4.1.3, RFC 7636 §4.6). Throws `invalid_grant`,
 * `invalid_client`.
 *
 * A second redemption by the same client also revokes the tokens that the first one issued (RFC 6749 §4.1.2). A
 * redemption by another client, or with invalid parameters, neither consumes the code nor revokes anything.
 */
export async function exchangeAuthorizationCode(
  { kernel: { db }, redeeming }: { kernel: ServerContext; redeeming: TokenStatements },
  client: Client,
  presented: Presented,
  now: Date,
): Promise<IssuedTokens> {
  const { kind, token, redirectUri, codeVerifier } = presented
  const codeChallenge = codeVerifier === undefined ? null : sha256(codeVerifier).toString('base64url')
  const redemption = { kind, token, redirectUri, codeChallenge, authenticated: client.authenticated }
  const issued = await redeemAuthorizationCode(redeeming, client.app, redemption, now)
  if (issued) return issued

  const family = await findFamilyByInitialCredential(db, kind, token)
  if (family && family.codeChallenge === null && codeVerifier === undefined && !client.authenticated)
    throw errors.invalid_client()
  if (family && isReplay(family, client, { redirectUri, codeChallenge })) await revokeFamilyOnReuse(db, family, now)
  throw errors.invalid_grant(kind === 'assertion' ? ofAssertion : {})
}

/** Tells if the client that a credential was issued to presents it again, with the correct proof. */
function isReplay(
  family: Pick<TokenFamily, 'codeRedeemedAt' | 'clientId' | 'redirectUri' | 'codeChallenge'>,
  client: { app: Pick<RegisteredApp, 'clientId'>; authenticated: boolean },
  { redirectUri, codeChallenge }: { redirectUri: string; codeChallenge: string | null },
): boolean {
  if (family.codeRedeemedAt === null) return false
  if (family.clientId !== client.app.clientId) return false
  if (family.redirectUri !== redirectUri) return false
  return family.codeChallenge === null ? client.authenticated : family.codeChallenge === codeChallenge
}
