import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAuthenticator } from '#testing/authenticator.ts'
import { freePorts, startService } from '#testing/service.ts'
import { startTraceReceiver } from '#testing/trace-receiver.ts'

test('LOG-01 AUZ-20 TOK-09 log, metrics and traces contain no token, code, secret, cookie or ciphertext', async (t) => {
  const receiver = await startTraceReceiver()
  t.after(receiver.close)
  const [metricsPort] = await freePorts(1)
  const service = await startService({
    environment: {
      LOG_LEVEL: 'trace',
      METRICS_PORT: String(metricsPort),
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint,
    },
  })
  t.after(() => service.close())
  const said: string[] = []
  const send = async (path: string, init: { headers?: Record<string, string>; body?: unknown; form?: object } = {}) => {
    const form = init.form && new URLSearchParams({ ...init.form })
    const answer = await fetch(service.baseUrl + path, {
      method: init.body || form ? 'POST' : 'GET',
      headers: { ...(init.body ? { 'content-type': 'application/json' } : {}), ...init.headers },
      ...(form ? { body: form } : init.body ? { body: JSON.stringify(init.body) } : {}),
    })
    return answer.status === 204 ? {} : JSON.parse(await answer.text())
  }

  const ciphertext = 'eyJjaXBoZXJ0ZXh0.of.a.master.key'
  const recoveryAuth = 'r'.repeat(43)
  const authenticator = createAuthenticator({ origin: service.authUrl, rpId: 'localhost' })
  const started = await send('/api/auth/register/start', { body: { handle: 'canary', displayName: 'Canary' } })
  const credential = authenticator.register(started.options)
  const keyWraps = [{ kind: 'recovery_code', ciphertext }]
  const registered = await send('/api/auth/register/finish', {
    body: { flowId: started.flowId, credential, keyWraps, recoveryAuth },
  })
  said.push(ciphertext, recoveryAuth, registered.sessionToken, credential.response.attestationObject)

  const redirectUri = 'https://app.example/callback'
  const app = await send('/api/admin/apps', {
    headers: service.admin,
    body: { name: 'An app', redirectUris: [redirectUri] },
  })
  const session = { authorization: `Bearer ${registered.sessionToken}` }
  const requested = { clientId: app.clientId, redirectUri, scope: 'openid offline_access', state: 'a-state-to-find' }
  const { redirectUrl } = await send('/api/oauth/authorize', {
    headers: session,
    body: { ...requested, identityId: registered.identities[0].identityId },
  })
  const code = new URL(redirectUrl).searchParams.get('code') ?? ''
  const client = { client_id: app.clientId, client_secret: app.clientSecret }
  const redemption = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, ...client }
  const tokens = await send('/api/oauth/token', { form: redemption })
  said.push(app.clientSecret, code, 'a-state-to-find', tokens.access_token, tokens.refresh_token, tokens.id_token)

  await send(`/api/oauth/userinfo?access_token=${tokens.access_token}`)
  await send(`/api/oauth/token?${new URLSearchParams(redemption)}`, { form: { ...redemption, code: 'cs_code_wrong' } })
  await send('/api/auth/session', {
    headers: { cookie: `countersign=${registered.sessionToken}`, origin: service.authUrl },
  })
  await fetch(`${service.authUrl}/signin?${new URLSearchParams({ client_id: app.clientId, state: 'a-state-to-find' })}`)
  await fetch(
    `${service.authUrl}/logout?${new URLSearchParams({ id_token_hint: tokens.id_token, state: 'a-state-to-find' })}`,
  )
  const refreshed = await send('/api/oauth/token', {
    form: { grant_type: 'refresh_token', refresh_token: tokens.refresh_token, ...client },
  })
  said.push(refreshed.access_token, refreshed.refresh_token)
  const metrics = await (await fetch(`http://localhost:${metricsPort}/metrics`)).text()
  await service.end('SIGTERM')

  assert.match(metrics, /^countersign_token_requests_total\{grant="authorization_code",outcome="issued"\} 1$/m)
  assert.match(metrics, /^countersign_token_requests_total\{grant="authorization_code",outcome="invalid_grant"\} 1$/m)
  assert.match(metrics, /^countersign_token_requests_total\{grant="refresh_token",outcome="issued"\} 1$/m)
  assert.ok(receiver.spans.some(({ name }) => name === 'POST /api/oauth/token'))
  const output = `${service.output()}\n${metrics}\n${receiver.received()}`
  assert.match(output, /"route":"\/api\/oauth\/token","status":200/)
  for (const secret of [...said, service.settings.ADMIN_TOKEN]) assert.ok(!output.includes(secret), secret.slice(0, 24))
})
