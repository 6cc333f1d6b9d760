import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

const module = new URL('../log.ts', import.meta.url).href

/** Returns the log line of an error with this code. */
async function lineOf(code: string): Promise<string> {
  const script = `
    const { log, flush } = (await import(${JSON.stringify(module)})).createLog('info')
    const error = Object.assign(new Error('it broke'), { code: ${JSON.stringify(code)} })
    log.error({ error, code: 'cs_code_x' }, 'x')
    await flush()`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
  return stdout
}

test('LOG-07 the log contains error codes, and no authorization code', async () => {
  for (const code of ['ECONNREFUSED', '57014', 'ERR_STREAM_PREMATURE_CLOSE']) {
    const line = await lineOf(code)
    assert.equal(JSON.parse(line).error.errorCode, code)
    assert.doesNotMatch(line, /cs_code_x/)
  }
  assert.doesNotMatch(await lineOf('cs_code_secret'), /cs_code_secret/)
})
