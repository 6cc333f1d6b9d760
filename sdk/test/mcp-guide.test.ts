import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { compileFunction } from 'node:vm'
import { startTokenIssuer } from '../../server/testing/token-issuer.ts'
import { Challenge, createResource } from '../src/resource/resource.ts'

const app = { use() {} }

test("the MCP server of the guide rejects an agent's token at once when the user has revoked the access", async (t) => {
  const issuer = await startTokenIssuer()
  t.after(() => issuer.close())
  const guide = await readFile(join(import.meta.dirname, '../../docs/guides/mcp.md'), 'utf8')
  const [, sample = ''] = /```js\n(.*?)```/s.exec(guide) ?? []
  const code = sample.replaceAll(/https:\/\/(?:api\.)?id\.example\.com/g, issuer.origin)
  const follow = compileFunction(`${code}\nreturn resource`, ['createResource', 'clientId', 'clientSecret', 'app'])
  const resource: ReturnType<typeof createResource> = follow(createResource, 'app_notes', 'cs_test', app)

  const token = issuer.issue({ aud: 'https://notes.example/mcp' })
  issuer.says('/api/oauth/introspect', { body: { active: true } })
  await resource.verify(token)
  issuer.says('/api/oauth/introspect', { body: { active: false } })
  await assert.rejects(resource.verify(token), Challenge)
})
