import assert from 'node:assert/strict'
import { clockStepSeconds } from './environment/adjustable-clock.ts'
import { grantModules } from './grant-modules.ts'
import type { ConformanceEnv, RequestChoices } from './environment/environment.ts'
import type { Module } from './plan.ts'
import { redirectModules } from './redirect-modules.ts'
import { checkUserinfo } from './responses.ts'

const core = 'OpenID Connect Core'
const silentErrors = ['login_required', 'interaction_required', 'consent_required', 'account_selection_required']

/** A flow whose request has additional parameters, and that ends like any other. */
function accepted(name: string, promise: string, clause: string, manner: RequestChoices): Module<ConformanceEnv> {
  return { name, promise, clause, check: async ({ flow }) => void (await flow(manner)) }
}

/** The claims of a scope (OpenID Connect Core §5.4). */
const claimsOfScope: Record<string, string[]> = {
  profile: [
    ...['name', 'family_name', 'given_name', 'middle_name', 'nickname', 'preferred_username', 'profile', 'picture'],
    ...['website', 'gender', 'birthdate', 'zoneinfo', 'locale', 'updated_at'],
  ],
  email: ['email', 'email_verified'],
}

/** Warns where the suite does: claims that userinfo lacks, and an e-mail address in the ID token of the code flow. */
function compareClaims(
  scopes: string[],
  { claims, userinfo }: { claims: object; userinfo: object },
  warn: (sentence: string) => void,
): void {
  for (const scope of scopes) {
    const expected = claimsOfScope[scope] ?? []
    const missing = expected.filter((claim) => !(claim in userinfo))
    assert.ok(missing.length < expected.length, `userinfo has no claim of ${scope}`)
    if (missing.length > 0) warn(`userinfo lacks ${missing.join(', ')}`)
  }
  if (scopes.includes('email') && 'email' in claims) warn('the ID token contains email, which userinfo contains too')
}

/** A scope adds its claims to userinfo. */
function scoped(scope: string): Module<ConformanceEnv> {
  return {
    name: `oidcc-scope-${scope}`,
    promise: 'the scope adds its claims to userinfo only',
    clause: `${core} §5.4`,
    async check({ flow }, warn) {
      compareClaims([scope], await flow({ parameters: { scope: `openid ${scope}` } }), warn)
    },
  }
}

/** A scope that discovery does not list. The app gets an error, and nothing breaks. */
function unlisted(scope: string): Module<ConformanceEnv> {
  return {
    name: `oidcc-scope-${scope}`,
    promise: 'a scope that discovery does not list gets an error',
    clause: `${core} §5.4, RFC 6749 §3.3`,
    async check({ answer, provider }) {
      assert.ok(!provider.metadata.scopes_supported.includes(scope))
      const refused = await answer({ parameters: { scope: `openid ${scope}` } })
      assert.equal(refused.answer.get('error'), 'invalid_scope')
      return { skipped: `scopes_supported does not list ${scope}; requesting it results in invalid_scope` }
    },
  }
}

const sessionModules: Module<ConformanceEnv>[] = [
  {
    name: 'oidcc-prompt-login',
    promise: 'a second sign-in authenticates the user again',
    clause: `${core} §3.1.2.1`,
    async check({ flow, provider }) {
      const first = await flow()
      await provider.clock.step()
      const second = await flow({ parameters: { prompt: 'login' }, presses: ['sign-in'] })
      assert.equal(second.claims.sub, first.claims.sub)
      const { authTime: before } = first.claims
      if (before !== undefined) assert.ok((second.claims.authTime ?? 0) >= before + clockStepSeconds)
      return { review: 'the sign-in page of the second request' }
    },
  },
  {
    name: 'oidcc-prompt-none-not-logged-in',
    promise: 'prompt=none without a session returns an error, without a page',
    clause: `${core} §3.1.2.6`,
    async check({ answer, invite }) {
      const nobody = await invite()
      nobody.offerPasskeys(false)
      const refused = await answer({ parameters: { prompt: 'none' }, browsing: nobody })
      assert.ok(silentErrors.includes(refused.answer.get('error') ?? ''))
      await nobody.leave()
    },
  },
  {
    name: 'oidcc-prompt-none-logged-in',
    promise: 'prompt=none with a session shows no page, and reports the same sign-in',
    clause: `${core} §3.1.2.1`,
    async check({ flow, person }) {
      const { claims } = await flow()
      const clicks = person.clicks()
      const silent = await flow({ parameters: { prompt: 'none' } })
      assert.deepEqual([silent.claims.sub, silent.claims.authTime], [claims.sub, claims.authTime])
      assert.equal(person.clicks(), clicks)
    },
  },
  {
    name: 'oidcc-max-age-1',
    promise: 'a sign-in older than max_age is repeated',
    clause: `${core} §3.1.2.1`,
    async check({ flow, provider }) {
      const first = await flow()
      await provider.clock.step()
      const second = await flow({ parameters: { max_age: '1' }, presses: ['sign-in'] })
      assert.equal(second.claims.sub, first.claims.sub)
      assert.ok(provider.clock.now().getTime() / 1000 - (second.claims.authTime ?? 0) < clockStepSeconds)
      return { review: 'the sign-in page of the second request' }
    },
  },
  {
    name: 'oidcc-max-age-10000',
    promise: 'a recent sign-in is reused, and its time is returned',
    clause: `${core} §3.1.2.1`,
    async check({ flow }) {
      const first = await flow()
      const second = await flow({ parameters: { max_age: '10000' } })
      assert.ok(second.claims.authTime !== undefined, 'auth_time is required with max_age')
      assert.equal(first.claims.authTime ?? second.claims.authTime, second.claims.authTime)
    },
  },
  {
    name: 'oidcc-id-token-hint',
    promise: 'prompt=none with the hint of the user succeeds for them',
    clause: `${core} §3.1.2.1`,
    async check({ flow }) {
      const { tokens, claims } = await flow()
      const silent = await flow({ parameters: { prompt: 'none', id_token_hint: tokens.id_token } })
      assert.deepEqual([silent.claims.sub, silent.claims.authTime], [claims.sub, claims.authTime])
    },
  },
]

const userinfoModules: Module<ConformanceEnv>[] = [
  {
    name: 'oidcc-userinfo-get',
    promise: 'userinfo responds to GET with the token in the header',
    clause: `${core} §5.3.1`,
    async check({ flow, provider }) {
      const { tokens, claims } = await flow()
      await checkUserinfo(await provider.userinfo(tokens.access_token, 'GET'), claims.sub)
    },
  },
  {
    name: 'oidcc-userinfo-post-header',
    promise: 'userinfo responds to POST with the token in the header',
    clause: `${core} §5.3.1`,
    async check({ flow, provider }) {
      const { tokens, claims } = await flow()
      await checkUserinfo(await provider.userinfo(tokens.access_token, 'POST'), claims.sub)
    },
  },
  {
    name: 'oidcc-userinfo-post-body',
    promise: 'a token in the body of a POST is accepted, or rejected with an error',
    clause: 'RFC 6750 §2.2',
    async check({ flow, provider }, warn) {
      const { tokens } = await flow()
      const body = new URLSearchParams({ access_token: tokens.access_token })
      const response = await fetch(provider.metadata.userinfo_endpoint, { method: 'POST', body })
      assert.equal(response.status, 401)
      warn('an access token is accepted in the Authorization header only, not in a body')
    },
  },
]

const plainModules: Module<ConformanceEnv>[] = [
  accepted('oidcc-server', 'a user signs in, and all responses to the client are valid', `${core} §3.1`, {}),
  {
    name: 'oidcc-response-type-missing',
    promise: 'a request without a response_type is an error',
    clause: 'RFC 6749 §3.1.1',
    async check({ answer }) {
      const { answer: answered } = await answer({ parameters: { response_type: undefined } })
      assert.equal(answered.get('error'), 'invalid_request')
    },
  },
  {
    name: 'oidcc-ensure-request-without-nonce-succeeds-for-code-flow',
    promise: 'without a nonce the flow works, and the ID token has none',
    clause: `${core} §3.1.2.1`,
    async check({ flow }) {
      const { claims } = await flow({ parameters: { nonce: undefined } })
      assert.ok(!('nonce' in claims))
    },
  },
  scoped('profile'),
  scoped('email'),
  unlisted('address'),
  unlisted('phone'),
  {
    name: 'oidcc-scope-all',
    promise: 'all standard scopes together add all their claims',
    clause: `${core} §5.4`,
    async check({ provider }) {
      const missing = ['address', 'phone'].filter((scope) => !provider.metadata.scopes_supported.includes(scope))
      assert.ok(missing.length > 0)
      return { skipped: `scopes_supported does not list ${missing.join(' and ')}` }
    },
  },
  {
    name: 'oidcc-alternate-happy-flow',
    promise: 'the order of scopes and of parameters does not matter',
    clause: `${core} §3.1.2.1`,
    async check({ flow, request }, warn) {
      const scope = 'email openid'
      const backwards = Object.fromEntries(Object.entries(request({ parameters: { scope } })).toReversed())
      compareClaims(['email'], await flow({ parameters: backwards }), warn)
    },
  },
]

const optional = `${core} §3.1.2.1, §15.1`
const optionalModules: Module<ConformanceEnv>[] = [
  accepted('oidcc-display-page', 'display=page breaks nothing', optional, { parameters: { display: 'page' } }),
  accepted('oidcc-display-popup', 'display=popup breaks nothing', optional, { parameters: { display: 'popup' } }),
  accepted('oidcc-ui-locales', 'ui_locales breaks nothing', optional, { parameters: { ui_locales: 'se' } }),
  accepted('oidcc-claims-locales', 'claims_locales breaks nothing', optional, {
    parameters: { claims_locales: 'se' },
  }),
  accepted('oidcc-login-hint', 'login_hint breaks nothing', optional, { parameters: { login_hint: 'ada' } }),
  {
    name: 'oidcc-ensure-request-with-acr-values-succeeds',
    promise: 'acr_values is fulfilled or ignored',
    clause: `${core} §3.1.2.1, §5.5.1.1`,
    async check({ flow, provider }) {
      const requested = provider.metadata.acr_values_supported
      const { claims } = await flow({ parameters: { acr_values: ['1', ...requested].join(' ') } })
      assert.ok(requested.includes(String(claims.acr)))
    },
  },
  accepted('oidcc-ensure-request-with-unknown-parameter-succeeds', 'an unknown parameter is ignored', optional, {
    parameters: { extra: 'foobar' },
  }),
  {
    name: 'oidcc-claims-essential',
    promise: 'a requested essential claim is in userinfo, and never causes an error',
    clause: `${core} §5.5`,
    async check({ flow }, warn) {
      const claims = JSON.stringify({ userinfo: { name: { essential: true } } })
      const { userinfo } = await flow({ parameters: { claims } })
      if (!('name' in userinfo))
        warn('userinfo has no name: the claims parameter is not supported, as discovery states')
    },
  },
  accepted('oidcc-ensure-post-request-succeeds', 'an authorization request can be sent by POST', `${core} §3.1.2.1`, {
    method: 'POST',
  }),
  accepted('oidcc-server-client-secret-post', 'a client can authenticate in the body', `${core} §9`, { by: 'post' }),
]

/** The modules of the Basic OP plan. The Form Post OP plan is the same with another response mode. */
export const basicModules: Module<ConformanceEnv>[] = [
  ...plainModules,
  ...userinfoModules,
  ...optionalModules,
  ...sessionModules,
  ...redirectModules,
  ...grantModules,
]
