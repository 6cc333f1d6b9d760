import assert from 'node:assert/strict'
import { clockStepSeconds } from './ground/clock-step.ts'
import { grantModules } from './grant-modules.ts'
import type { Ground, Manner } from './ground/ground.ts'
import type { Module } from './plan.ts'
import { redirectModules } from './redirect-modules.ts'
import { judgeUserinfo } from './responses.ts'

const core = 'OpenID Connect Core'
const silentErrors = ['login_required', 'interaction_required', 'consent_required', 'account_selection_required']

/** A flow that a request may ask for in its own way, and that ends like any other. */
function accepted(name: string, promise: string, clause: string, manner: Manner): Module<Ground> {
  return { name, promise, clause, judge: async ({ flow }) => void (await flow(manner)) }
}

/** The claims of a scope (OpenID Connect Core §5.4). */
const claimsOfScope: Record<string, string[]> = {
  profile: [
    ...['name', 'family_name', 'given_name', 'middle_name', 'nickname', 'preferred_username', 'profile', 'picture'],
    ...['website', 'gender', 'birthdate', 'zoneinfo', 'locale', 'updated_at'],
  ],
  email: ['email', 'email_verified'],
}

/** Warns of what the suite warns of: claims that userinfo lacks, and an address in the ID token of the code flow. */
function compareClaims(
  scopes: string[],
  { claims, userinfo }: { claims: object; userinfo: object },
  warn: (sentence: string) => void,
): void {
  for (const scope of scopes) {
    const expected = claimsOfScope[scope] ?? []
    const missing = expected.filter((claim) => !(claim in userinfo))
    assert.ok(missing.length < expected.length, `userinfo has nothing of ${scope}`)
    if (missing.length > 0) warn(`userinfo has not ${missing.join(', ')}`)
  }
  if (scopes.includes('email') && 'email' in claims) warn('the ID token has email, which userinfo has as well')
}

/** A scope brings its claims to userinfo. */
function scoped(scope: string): Module<Ground> {
  return {
    name: `oidcc-scope-${scope}`,
    promise: 'the scope brings its claims to userinfo, and there alone',
    clause: `${core} §5.4`,
    async judge({ flow }, warn) {
      compareClaims([scope], await flow({ parameters: { scope: `openid ${scope}` } }), warn)
    },
  }
}

/** A scope that discovery does not list. An app is not let ask for it; that is told to it, and breaks nothing. */
function unlisted(scope: string): Module<Ground> {
  return {
    name: `oidcc-scope-${scope}`,
    promise: 'a scope that discovery does not list is refused in words',
    clause: `${core} §5.4, RFC 6749 §3.3`,
    async judge({ answer, provider }) {
      assert.ok(!provider.metadata.scopes_supported.includes(scope))
      const refused = await answer({ parameters: { scope: `openid ${scope}` } })
      assert.equal(refused.answer.get('error'), 'invalid_scope')
      return { skipped: `scopes_supported does not list ${scope}; requesting it answers invalid_scope` }
    },
  }
}

const sessionModules: Module<Ground>[] = [
  {
    name: 'oidcc-prompt-login',
    promise: 'a second sign-in proves the person anew',
    clause: `${core} §3.1.2.1`,
    async judge({ flow, provider }) {
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
    promise: 'a silent request of nobody ends with an error, without a question',
    clause: `${core} §3.1.2.6`,
    async judge({ answer, invite }) {
      const nobody = await invite()
      nobody.offerPasskeys(false)
      const refused = await answer({ parameters: { prompt: 'none' }, browsing: nobody })
      assert.ok(silentErrors.includes(refused.answer.get('error') ?? ''))
      await nobody.leave()
    },
  },
  {
    name: 'oidcc-prompt-none-logged-in',
    promise: 'a silent request of somebody who is signed in asks nothing, and tells of the same sign-in',
    clause: `${core} §3.1.2.1`,
    async judge({ flow, person }) {
      const { claims } = await flow()
      const clicks = person.clicks()
      const silent = await flow({ parameters: { prompt: 'none' } })
      assert.deepEqual([silent.claims.sub, silent.claims.authTime], [claims.sub, claims.authTime])
      assert.equal(person.clicks(), clicks)
    },
  },
  {
    name: 'oidcc-max-age-1',
    promise: 'a sign-in that is older than the app wants is done anew',
    clause: `${core} §3.1.2.1`,
    async judge({ flow, provider }) {
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
    promise: 'a sign-in that is young enough serves again, and its time is told',
    clause: `${core} §3.1.2.1`,
    async judge({ flow }) {
      const first = await flow()
      const second = await flow({ parameters: { max_age: '10000' } })
      assert.ok(second.claims.authTime !== undefined, 'auth_time is required with max_age')
      assert.equal(first.claims.authTime ?? second.claims.authTime, second.claims.authTime)
    },
  },
  {
    name: 'oidcc-id-token-hint',
    promise: 'a silent request that hints at the person succeeds for them',
    clause: `${core} §3.1.2.1`,
    async judge({ flow }) {
      const { tokens, claims } = await flow()
      const silent = await flow({ parameters: { prompt: 'none', id_token_hint: tokens.id_token } })
      assert.deepEqual([silent.claims.sub, silent.claims.authTime], [claims.sub, claims.authTime])
    },
  },
]

const userinfoModules: Module<Ground>[] = [
  {
    name: 'oidcc-userinfo-get',
    promise: 'userinfo answers a GET with the token in the header',
    clause: `${core} §5.3.1`,
    async judge({ flow, provider }) {
      const { tokens, claims } = await flow()
      await judgeUserinfo(await provider.userinfo(tokens.access_token, 'GET'), claims.sub)
    },
  },
  {
    name: 'oidcc-userinfo-post-header',
    promise: 'userinfo answers a POST with the token in the header',
    clause: `${core} §5.3.1`,
    async judge({ flow, provider }) {
      const { tokens, claims } = await flow()
      await judgeUserinfo(await provider.userinfo(tokens.access_token, 'POST'), claims.sub)
    },
  },
  {
    name: 'oidcc-userinfo-post-body',
    promise: 'a token in the body of a POST is taken, or refused in words',
    clause: 'RFC 6750 §2.2',
    async judge({ flow, provider }, warn) {
      const { tokens } = await flow()
      const body = new URLSearchParams({ access_token: tokens.access_token })
      const response = await fetch(provider.metadata.userinfo_endpoint, { method: 'POST', body })
      assert.equal(response.status, 401)
      warn('an access token is taken in the Authorization header alone, not in a body')
    },
  },
]

const plainModules: Module<Ground>[] = [
  accepted('oidcc-server', 'a person signs in, and all that the client gets is in order', `${core} §3.1`, {}),
  {
    name: 'oidcc-response-type-missing',
    promise: 'a request without a response_type is an error',
    clause: 'RFC 6749 §3.1.1',
    async judge({ answer }) {
      const { answer: answered } = await answer({ parameters: { response_type: undefined } })
      assert.equal(answered.get('error'), 'invalid_request')
    },
  },
  {
    name: 'oidcc-ensure-request-without-nonce-succeeds-for-code-flow',
    promise: 'without a nonce the flow works, and the ID token has none',
    clause: `${core} §3.1.2.1`,
    async judge({ flow }) {
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
    promise: 'all standard scopes at once bring all their claims',
    clause: `${core} §5.4`,
    async judge({ provider }) {
      const missing = ['address', 'phone'].filter((scope) => !provider.metadata.scopes_supported.includes(scope))
      assert.ok(missing.length > 0)
      return { skipped: `scopes_supported does not list ${missing.join(' and ')}` }
    },
  },
  {
    name: 'oidcc-alternate-happy-flow',
    promise: 'the order of scopes and of parameters does not matter',
    clause: `${core} §3.1.2.1`,
    async judge({ flow, request }, warn) {
      const scope = 'email openid'
      const backwards = Object.fromEntries(Object.entries(request({ parameters: { scope } })).toReversed())
      compareClaims(['email'], await flow({ parameters: backwards }), warn)
    },
  },
]

const optional = `${core} §3.1.2.1, §15.1`
const optionalModules: Module<Ground>[] = [
  accepted('oidcc-display-page', 'display=page breaks nothing', optional, { parameters: { display: 'page' } }),
  accepted('oidcc-display-popup', 'display=popup breaks nothing', optional, { parameters: { display: 'popup' } }),
  accepted('oidcc-ui-locales', 'a wish for a language breaks nothing', optional, { parameters: { ui_locales: 'se' } }),
  accepted('oidcc-claims-locales', 'a wish for a language of claims breaks nothing', optional, {
    parameters: { claims_locales: 'se' },
  }),
  accepted('oidcc-login-hint', 'a hint at the person breaks nothing', optional, { parameters: { login_hint: 'ada' } }),
  {
    name: 'oidcc-ensure-request-with-acr-values-succeeds',
    promise: 'a wish for a class of authentication is met, or passed over',
    clause: `${core} §3.1.2.1, §5.5.1.1`,
    async judge({ flow, provider }) {
      const wanted = provider.metadata.acr_values_supported
      const { claims } = await flow({ parameters: { acr_values: ['1', ...wanted].join(' ') } })
      assert.ok(wanted.includes(String(claims.acr)))
    },
  },
  accepted('oidcc-ensure-request-with-unknown-parameter-succeeds', 'an unknown parameter is ignored', optional, {
    parameters: { extra: 'foobar' },
  }),
  {
    name: 'oidcc-claims-essential',
    promise: 'an essential claim that is requested is in userinfo, and is never an error',
    clause: `${core} §5.5`,
    async judge({ flow }, warn) {
      const claims = JSON.stringify({ userinfo: { name: { essential: true } } })
      const { userinfo } = await flow({ parameters: { claims } })
      if (!('name' in userinfo)) warn('userinfo has not name: the claims parameter is not supported, as discovery says')
    },
  },
  accepted('oidcc-ensure-post-request-succeeds', 'a request may be posted as a form', `${core} §3.1.2.1`, {
    method: 'POST',
  }),
  accepted('oidcc-server-client-secret-post', 'a client may prove itself in the body', `${core} §9`, { by: 'post' }),
]

/** The modules of the Basic OP plan. The Form Post OP plan is the same with another response mode. */
export const basicModules: Module<Ground>[] = [
  ...plainModules,
  ...userinfoModules,
  ...optionalModules,
  ...sessionModules,
  ...redirectModules,
  ...grantModules,
]
