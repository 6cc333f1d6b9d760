import type { ExchangeResponse } from '@countersign/protocol/oauth/delegations'
import type { ResourceTokenResponse, TokenRequest, TokenResponse } from '@countersign/protocol/oauth/authorize'
import { requireClientAuthentication, type Client } from '#clients/registration/authentication/authentication.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import type { TokenStatements } from '#tokens/families/family.ts'
import type { SigningKeys } from '#tokens/signing-keys/signing-keys.ts'

export type GrantDeps = { kernel: ServerContext; keys: SigningKeys; redeeming: TokenStatements }
export type GrantResponse = TokenResponse | ResourceTokenResponse | ExchangeResponse

/**
 * Clients that may use a grant. `any`: the grant itself decides. `authenticated`: an app with a secret must have sent
 * it. `confidential`: the same, and public apps get `unauthorized_client`.
 */
type AllowedClients = 'any' | 'authenticated' | 'confidential'

type GrantDefinition<Request> = {
  /** Name of the grant in metrics and error messages. */
  name: string
  clients: AllowedClients
  /** Parses the parameters. Throws `invalid_request`. */
  parse: (body: TokenRequest) => Request
  redeem: (deps: GrantDeps, client: Client, request: Request, now: Date) => Promise<GrantResponse>
}

/** A grant of the token endpoint: the row of the registry `grants`. */
export type Grant = {
  name: string
  /** Parses the parameters of a token request, and returns what redeems them. Throws `invalid_request`. */
  parse: (body: TokenRequest) => RedeemGrant
}
export type RedeemGrant = (deps: GrantDeps, client: Client, now: Date) => Promise<GrantResponse>

/** Defines a grant by its parser and its redemption, so that the registry does not depend on the parsed type. */
export function defineGrant<Request>({ name, clients, parse, redeem }: GrantDefinition<Request>): Grant {
  return {
    name,
    parse: (body) => {
      const request = parse(body)
      return async (deps, client, now) => {
        requireAllowed(name, clients, client)
        return redeem(deps, client, request, now)
      }
    },
  }
}

const errors = defineErrors({ unauthorized_client: [400, 'Public clients cannot use this grant.'] })

/** Throws `unauthorized_client` or `invalid_client` for a client that may not use the grant. */
function requireAllowed(name: string, clients: AllowedClients, client: Client): void {
  if (clients === 'any') return
  if (clients === 'confidential' && client.app.isPublic)
    throw errors.unauthorized_client({ sentence: `Public clients cannot use ${name.replaceAll('_', ' ')}.` })
  requireClientAuthentication(client)
}
