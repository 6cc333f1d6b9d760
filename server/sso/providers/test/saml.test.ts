import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connection, now } from '@countersign/saml/testing/document'
import { makeCorpus } from '@countersign/saml/testing/make'
import { ApiError } from '#platform/api-error.ts'
import { buildSamlRedirect, parseSamlMetadata, requireRequestId, verifySamlCallback } from '#sso/providers/saml.ts'

test('request ids are unique and unpredictable', () => {
  const ids = new Set(Array.from({ length: 100 }, () => buildSamlRedirect(connection, now).requestId))
  assert.equal(ids.size, 100)
  for (const id of ids) assert.match(id, /^_[\da-f]{40}$/)
})

test('each rejected response has an error code, and the detail for the audit log', async () => {
  const { requestId } = buildSamlRedirect(connection, now)
  const findKeys = async () => []
  for (const { bytes, name, kind } of makeCorpus()) {
    const samlResponse = Buffer.from(bytes).toString('base64')
    await assert.rejects(
      verifySamlCallback(connection, { samlResponse, requestId, findKeys }, now),
      (error) =>
        error instanceof ApiError &&
        /^sso_(response_invalid|response_mismatch|denied)$/.test(error.code) &&
        typeof error.fields['because'] === 'string' &&
        (kind === 'hostile' || error.code === 'sso_response_mismatch'),
      name,
    )
  }
  assert.throws(
    () => requireRequestId('%%%'),
    (error) => error instanceof ApiError && error.code === 'sso_response_invalid' && error.fields['because'] === 'form',
  )
})

test('SML-17 rejected metadata is named in a sentence', async () => {
  await assert.rejects(
    parseSamlMetadata('<html><body>Sign in</body></html>', now),
    (error) =>
      error instanceof ApiError &&
      error.code === 'invalid_metadata' &&
      error.message === 'The metadata describes no entity.',
  )
})
