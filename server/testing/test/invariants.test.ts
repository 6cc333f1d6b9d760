import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { verifyInvariants } from '#testing/invariants.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
  const [person, app] = await Promise.all([world.person(), world.app()])
  const { refresh_token } = await app.tokens(person)
  assert.equal((await app.refresh(refresh_token)).statusCode, 200)
  await app.code(person)
})
after(() => world.close())

const breakages: Record<string, string> = {
  'a user has as many identities as are counted': 'update user_account set identity_count = 2',
  'a user has a passkey': 'delete from passkey_credential',
  'an identity has its handle reserved': 'delete from identity_handle',
  'an identity is found by its username': 'delete from identity_term',
  'each handle and each term is of an identity, which may be invited': `insert into identity_term
    select term, gen_random_uuid() from identity_term`,
  'no account has an invited identity': `insert into invited_identity
    select identity_id, handle, display_name, email, '{}', created_at from identity`,
  'an invited identity has its handle reserved': `insert into invited_identity
    select gen_random_uuid(), handle, display_name, email, '{}', created_at from identity`,
  'an invited identity is found by its username and its address': `insert into invited_identity
    select gen_random_uuid(), handle, display_name, email, '{}', created_at from identity`,
  'an invitation of one identity is of an invited one, with its names, address and groups': `insert into invitation
    (invitation_id, token_sha256, kind, group_ids, language, max_uses, created_at, issued_at, expires_at, identity_id)
    select gen_random_uuid(), sha256('made-up'), 'link', '{}', 'en', 1, created_at, created_at, created_at, identity_id
    from identity`,
  'a session has a sign-in in the audit log, unless older events were deleted':
    "delete from audit_event where action = 'account.created'",
  'an app with a secret is not public, and any other is': 'delete from app_secret',
  'a consent is in the audit log': "delete from audit_event where action = 'app.authorized'",
  'an app key belongs to an identity that has connected the app': `insert into authorization_app_key
    select identity_id, 'app_of_nobody', 'symmetric', 'sealed', null, created_at from identity`,
  'an active token family has a consent to its scope': 'delete from authorization_consent',
  'a token family without passkey belongs to an SSO connection':
    'update token_family set authenticated_by_passkey = false',
  'the revocation of a token family has an audit event at that instant':
    "update token_family set revoked_at = (created_at at time zone 'UTC' + interval '1 day') at time zone 'UTC'",
  'a code that was not redeemed has issued no tokens': 'update token_family set code_redeemed_at = null',
  'a redeemed code has started a token family': 'update token_family set code_redeemed_at = created_at',
  'no refresh token is both used and current':
    'update token_family set previous_refresh_sha256 = current_refresh_sha256',
  'an active access token has a token family, and no scope beyond it':
    "update token_access_token set scope = array['openid', 'email']",
  'each user_id of session is in user_account': 'update session set user_id = session_id',
  'each identity_id of token_access_token is in identity': `insert into token_access_token
    select family_id, token_sha256, family_id, scope, expires_at, issued_at from token_access_token`,
  'app holds no token in clear': `update app set description = 'cs_rt_${'a'.repeat(49)}'`,
}

for (const [sentence, breakage] of Object.entries(breakages))
  test(`a violation is detected: ${sentence}`, async () => {
    const noticed = world.db.transaction().execute(async (tx) => {
      await sql.raw(breakage).execute(tx)
      await verifyInvariants(tx, world.now())
    })
    await assert.rejects(noticed, ({ message }: Error) => message.includes(`\n${sentence}, but there are`))
  })

test('a made-up token is accepted as a name', async () => {
  await world.app({ description: `cs_rt_${'A'.repeat(107)}` })
  await verifyInvariants(world.db, world.now())
})

test('a random value that begins like a token is accepted', async () => {
  await world.app({ description: `cs_${'a'.repeat(40)}` })
  await verifyInvariants(world.db, world.now())
})

test('an unmodified database meets all invariants', async () => {
  await verifyInvariants(world.db, world.now())
})
