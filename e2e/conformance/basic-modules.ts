import assert from 'node:assert/strict'
import { decodeProtectedHeader } from 'jose'
import { clockStepSeconds } from './clock-step.ts'
import { grantModules } from './grant-modules.ts'
import type { Ground, Manner } from './ground.ts'
import type { Module } from './plan.ts'
import { redirectModules } from './redirect-modules.ts'
import { judgeUserinfo } from './responses.ts'

const core = 'OpenID Connect Core'
const silentErrors = ['login_required', 'interaction_required', 'consent_required', 'account_selection_required']

/** A flow that a request may ask for in its own way, and that ends like any other. */
function accepted(name: string, promise: string, clause: string, manner: Manner): Module<Ground> {
  return { name, promise, clause, judge: async ({ flow }) => void (await flow(manner)) }
}

/** A scope brings its claims to userinfo; `claims` are those that our people have. */
function scoped(scope: string, claims: string[]): Module<Ground> {
  return {
    name: `oidcc-scope-${scope.split(' ').at(-1)}`,
    promise: 'the scope brings its claims to userinfo',
    clause: `${core} §5.4`,
    async judge({ flow }) {
      const { userinfo } = await flow({ parameters: { scope } })
      assert.deepEqual(
        claims.filter((claim) => !(claim in userinfo)),
        [],
      )
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
      return { notApplicable: `scopes_supported does not list ${scope}; asking for it answers invalid_scope` }
    },
  }
}

const sessionModules: Module<Ground>[] = [
  {
    name: 'oidcc-prompt-login',
    promise: 'a second sign-in proves the person anew',
    clause: `${core} §3.1.2.1`,
    async judge({ flow, provider }) {
      const first = await flow({ parameters: { max_age: '10000' } })
      await provider.clock.step()
      const second = await flow({ parameters: { prompt: 'login' }, presses: ['sign-in'] })
      assert.equal(second.claims.sub, first.claims.sub)
      assert.ok(second.claims.authTime >= first.claims.authTime + clockStepSeconds)
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
      assert.ok(second.claims.authTime >= first.claims.authTime + clockStepSeconds)
    },
  },
  {
    name: 'oidcc-max-age-10000',
    promise: 'a sign-in that is young enough serves again, and its time is told',
    clause: `${core} §3.1.2.1`,
    async judge({ flow }) {
      const first = await flow()
      const second = await flow({ parameters: { max_age: '10000' } })
      assert.equal(second.claims.authTime, first.claims.authTime)
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
      const answered = await answer({ parameters: { response_type: undefined } })
      assert.equal(answered.answer.get('error'), null)
      return { failsByDecision: 'our interface has code for a request that names no response_type' }
    },
  },
  {
    name: 'oidcc-idtoken-signature',
    promise: 'a client that named no algorithm gets RS256, with the id of a published key',
    clause: `${core} §10.1, §15.1`,
    async judge({ flow, provider }) {
      const { alg, kid } = decodeProtectedHeader((await flow()).tokens.id_token)
      assert.equal(alg, 'RS256')
      assert.ok((await provider.readKeys()).keys.some((key) => key.kid === kid))
    },
  },
  {
    name: 'oidcc-idtoken-unsigned',
    promise: 'no client is registered for ID tokens that nobody signed',
    clause: `${core} §3.1.3.7`,
    async judge({ provider, site }) {
      const unsigned = await provider.registration([site.callback], { idTokenSignedResponseAlg: 'none' })
      assert.equal(unsigned.status, 400)
      return {
        notApplicable: 'id_token_signing_alg_values_supported does not list none, and registering for it is refused',
      }
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
  scoped('openid profile', ['name', 'preferred_username', 'updated_at']),
  scoped('openid email', ['email', 'email_verified']),
  unlisted('address'),
  unlisted('phone'),
  {
    ...scoped('openid profile email offline_access', ['name', 'preferred_username', 'email', 'email_verified']),
    name: 'oidcc-scope-all',
  },
  {
    name: 'oidcc-alternate-happy-flow',
    promise: 'the order of scopes and of parameters does not matter',
    clause: `${core} §3.1.2.1`,
    async judge({ flow, request }) {
      const scope = 'email profile openid'
      const backwards = Object.fromEntries(Object.entries(request({ parameters: { scope } })).toReversed())
      const { userinfo } = await flow({ parameters: backwards })
      assert.ok('name' in userinfo && 'email' in userinfo)
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
  accepted('oidcc-claims-essential', 'an essential claim that is asked for is never an error', `${core} §5.5`, {
    parameters: { claims: JSON.stringify({ userinfo: { name: { essential: true } } }) },
  }),
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
