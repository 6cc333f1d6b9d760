import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createWorld, newChallenge, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

test('AUZ-21 a consent with a nonce sent ten times issues ten codes, of which only the last is valid', async () => {
  const [person, app] = [await world.person(), await world.app()]
  const { verifier: code_verifier, challenge: codeChallenge } = newChallenge()
  for (const flow of [{ nonce: 'n1' }, { codeChallenge, nonce: 'n2' }]) {
    const codes: string[] = []
    for (let nth = 0; nth < 10; nth += 1) codes.push(await app.code(person, flow))
    assert.equal(new Set(codes).size, 10)
    const last = codes.pop() ?? ''
    const proof: Record<string, string> = 'codeChallenge' in flow ? { code_verifier } : {}
    for (const code of codes) assert.equal((await app.redeem(code, proof)).json().error, 'invalid_grant')
    assert.equal((await app.redeem(last, proof)).statusCode, 200)
    assert.equal((await app.redeem(last, proof)).json().error, 'invalid_grant')
  }
})

test('AUZ-21 of ten concurrent consents of one flow, at most one code is valid', async () => {
  const [person, app] = [await world.person(), await world.app()]
  const codes = await Promise.all(Array.from({ length: 10 }, () => app.code(person, { nonce: 'n1' })))
  const answers = await Promise.all(codes.map((code) => app.redeem(code)))
  assert.equal(answers.filter(({ statusCode }) => statusCode === 200).length, 1)
})

test('AUZ-21 without a nonce, two codes are of two requests, also with one challenge', async () => {
  const [person, app] = [await world.person(), await world.app()]
  const { verifier: code_verifier, challenge: codeChallenge } = newChallenge()
  for (const [flow, proof] of [
    [{ codeChallenge }, { code_verifier }],
    [{}, {}],
  ] as const) {
    const codes = [await app.code(person, flow), await app.code(person, flow)]
    for (const code of codes) assert.equal((await app.redeem(code, proof)).statusCode, 200)
  }
})

test('AUZ-21 codes of other flows, users and apps stay valid, and so do redeemed tokens', async () => {
  const [ada, bob] = [await world.person(), await world.person()]
  const [app, other] = [await world.app(), await world.app()]
  const redeemed = await app.tokens(ada, { nonce: 'n1' })
  const elsewhere = { ...ada, headers: await ada.signIn() }
  const kept: [TestApp, string][] = [
    [app, await app.code(ada, { nonce: 'n2' })],
    [app, await app.code(ada)],
    [app, await app.code(bob, { nonce: 'n1' })],
    [other, await other.code(ada, { nonce: 'n1' })],
    [app, await app.code(elsewhere, { nonce: 'n1' })],
  ]
  await app.code(ada, { nonce: 'n1' })
  for (const [holder, code] of kept) assert.equal((await holder.redeem(code)).statusCode, 200)
  assert.equal((await app.refresh(redeemed.refresh_token)).statusCode, 200)
})
