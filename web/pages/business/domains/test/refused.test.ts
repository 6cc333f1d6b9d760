import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { ApiError } from '../../../../lib/api/call.ts'
import { businessMessages } from '../../../../locales/en/pages/business.ts'
import { en } from '../../../../locales/en/messages.ts'
import { verificationMessage } from '../domain-verdict.ts'

/** Error codes of apps and the operator, which no page can receive. */
const ofOthers = ['invalid_token', 'invalid_client', 'workspace_creation_failed', 'no_owner', 'organization_ending']
const server = new URL('../../../../../server/', import.meta.url)

test('whatever these pages may be refused they say in words of their own', async () => {
  const paths = await readdir(new URL('organizations/', server), { recursive: true })
  const files = [
    ...paths.filter((path) => /^[a-z-]+\/[a-z-]+\.ts$/.test(path)).map((path) => `organizations/${path}`),
    ...['connections/connection', 'connections/encryption-key', 'connections/settings', 'provisioning/directory'].map(
      (path) => `sso/${path}.ts`,
    ),
  ]
  assert.ok(files.length > 30, files.join())
  const unsaid: string[] = []
  for (const file of files) {
    const source = await readFile(new URL(file, server), 'utf8')
    for (const [, code = ''] of source.matchAll(/^ {2}([a-z_]+): \[\s*\d{3},/gm))
      if (!ofOthers.includes(code) && !isSaid(code)) unsaid.push(`${file}: ${code}`)
  }
  assert.deepEqual(unsaid, [])
})

function isSaid(code: string): boolean {
  return Object.hasOwn(businessMessages.refused, code) || Object.hasOwn(en.problem.refused, code) || isVerdict(code)
}

/** Returns whether a code is about a domain. Its text is shown next to the domain. */
function isVerdict(code: string): boolean {
  const found = code === 'domain_verification_failed' ? { found: 'nothing' } : {}
  try {
    return verificationMessage(new ApiError(409, code, '', found)) !== undefined
  } catch {
    return false
  }
}
