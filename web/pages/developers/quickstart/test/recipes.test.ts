import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ClientId, asId } from '@countersign/protocol/ids'
import guideCode from '../guide-code.json' with { type: 'json' }
import { firstRecipeFor, postLogoutRedirectUrisFor, recipe, recipeNames, recipesFor } from '../recipes.ts'

const app = {
  clientId: asId<ClientId>('app_0123'),
  redirectUris: ['https://ledger.example/callback', 'http://localhost:4000/callback'],
  allowedScopes: ['openid', 'profile', 'email'],
  public: false,
}
const input = {
  app,
  clientSecret: 'cs_secret',
  baseUrl: 'https://api.example',
  issuer: 'https://id.example',
  guideCode,
}
const textOf = (name: (typeof recipeNames)[number], changed: object = {}) =>
  recipe(name, { ...input, ...changed }).steps.flatMap((step) => ('code' in step ? [step.code] : []))

test('every recipe has the values of the app, and the secret only while it is known', () => {
  for (const name of recipesFor(app)) {
    const text = textOf(name).join('\n')
    for (const value of ['app_0123', 'https://id.example', 'cs_secret'])
      assert.ok(text.includes(value), `${name} ${value}`)
    const later = textOf(name, { clientSecret: undefined }).join('\n')
    assert.ok(!later.includes('cs_secret') && later.includes('YOUR_CLIENT_SECRET'), name)
  }
})

test('the code of a guide runs where the app is registered, or says where that is not', () => {
  const { redirectUri, startUrl } = recipe('express', input)
  assert.deepEqual([redirectUri, startUrl], ['http://localhost:4000/callback', 'http://localhost:4000/sign-in'])
  assert.ok(textOf('express').at(-1)?.includes('PORT=4000'))
  assert.equal(recipe('vite', input).startUrl, 'http://localhost:4000/')
  assert.ok(textOf('vite').at(-1)?.endsWith('npx --no-install vite --port 4000 --strictPort'))
  const elsewhere = recipe('express', { ...input, app: { ...app, redirectUris: ['https://ledger.example/'] } })
  assert.equal(elsewhere.redirectUri, 'http://localhost:3000/callback')
})

test('the code of a guide returns after a sign-out to where a new app is registered for it', () => {
  assert.equal(recipe('express', input).postLogoutRedirectUri, 'http://localhost:4000/')
  assert.deepEqual(postLogoutRedirectUrisFor(app.redirectUris), ['http://localhost:4000/'])
  assert.deepEqual(postLogoutRedirectUrisFor(['https://ledger.example/callback']), [])
  assert.equal(recipe('curl', input).postLogoutRedirectUri, undefined)
})

test('a public app gets no server that keeps a secret', () => {
  const isPublic = { ...app, public: true }
  assert.deepEqual(recipesFor(isPublic), ['terminal', 'vite', 'curl'])
  assert.deepEqual(new Set([...recipesFor(isPublic), ...recipesFor(app)]), new Set(recipeNames))
  assert.deepEqual([firstRecipeFor(isPublic), firstRecipeFor(app)], ['terminal', 'node'])
  for (const name of recipesFor(isPublic)) {
    const text = textOf(name, { app: isPublic }).join('\n')
    assert.doesNotMatch(text, /secret/i)
    for (const value of ['app_0123', 'https://id.example']) assert.ok(text.includes(value), `${name} ${value}`)
  }
})

test('the commands of curl work in every shell, and no command is read as the code', () => {
  const steps = textOf('curl')
  // The option of a prompt means something else in zsh.
  assert.ok(steps.every((step) => !/\bread .*-p/.test(step)))
  const reading = steps.filter((step) => /\bread\b/.test(step))
  assert.deepEqual(reading, ["printf 'Paste the code: '; read -r CODE"])
  assert.ok(steps.at(-1)?.includes('code="$CODE"'))
})

test('the developer signs in before the commands of curl read the code', () => {
  const kinds = recipe('curl', input).steps.map(({ kind }) => kind)
  assert.deepEqual(kinds, ['terminal', 'browser', 'terminal', 'terminal'])
})

test('no redirect URI breaks out of its place in a command', () => {
  const quoted = { ...app, redirectUris: ["https://ledger.example/?it's=$(id)"] }
  const [start = '', , exchange = ''] = textOf('curl', { app: quoted })
  assert.ok(!start.includes('$(id)'))
  assert.ok(exchange.includes(String.raw`'redirect_uri=https://ledger.example/?it'\''s=$(id)'`))
})
