import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { verifyInvariants } from '#testing/invariants.ts'
import { createWorld, type World } from '#testing/world.ts'

let world: World
before(async () => {
  world = await createWorld()
  const [person, app] = await Promise.all([world.person(), world.app()])
  const { refresh_token } = await app.tokens(person)
  assert.equal((await app.refresh(refresh_token)).statusCode, 200)
  await app.code(person)
})
after(() => world.close())

const breakages: Record<string, string> = {
  'a person has as many identities as are counted': 'update person set identity_count = 2',
  'a person has a passkey': 'delete from passkey_credential',
  'an identity holds its handle': 'delete from identity_handle',
  'a session began with a recorded sign-in': "delete from audit_entry where action = 'account.registered'",
  'an app with a secret is not public, and any other is': 'delete from app_secret',
  'a consent has been recorded in the trail': "delete from audit_entry where action = 'app.authorized'",
  'a key in an app is of an identity that has connected it': `insert into authorization_app_key
    select identity_id, 'app_of_nobody', 'symmetric', 'sealed', null, created_at from identity`,
  'what lives of a lineage was consented to': 'delete from authorization_consent',
  'what an organization’s provider alone has agreed to is for that organization':
    'update token_lineage set by_passkey = false',
  'a lineage that was ended early has an act in the trail at that instant':
    "update token_lineage set revoked_at = created_at + interval '1 day'",
  'a code that was not redeemed has given nothing': 'update token_lineage set code_spent_at = null',
  'a code that was redeemed has begun a family': 'update token_lineage set code_spent_at = created_at',
  'no refresh token is spent and live': 'update token_lineage set spent_sha256 = live_sha256',
  'an access token that has not expired has a lineage, and no scope beyond it':
    "update token_access set scope = array['openid', 'email']",
  'each user_id of session is in person': 'update session set user_id = session_id',
  'each identity_id of token_access is in identity': 'update token_access set identity_id = lineage_id',
  'app holds no token in clear': `update app set description = 'cs_rt_${'a'.repeat(43)}'`,
}

for (const [sentence, breakage] of Object.entries(breakages))
  test(`it is noticed when this is not so: ${sentence}`, async () => {
    const noticed = world.db.transaction().execute(async (tx) => {
      await sql.raw(breakage).execute(tx)
      await verifyInvariants(tx, world.now())
    })
    await assert.rejects(noticed, ({ message }: Error) => message.includes(`\n${sentence}, but there are`))
  })

test('a token that was made up may be the name of anything', async () => {
  await world.app({ description: `cs_rt_${'A'.repeat(107)}` })
  await verifyInvariants(world.db, world.now())
})

test('a database that nobody has broken is as it must be', async () => {
  await verifyInvariants(world.db, world.now())
})
