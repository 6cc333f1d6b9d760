import assert from 'node:assert/strict'
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { test } from 'node:test'
import { promisify } from 'node:util'

const module = new URL('../log.ts', import.meta.url).href

/** Returns the log line of an error with this code. */
function lineOf(code: string): Promise<string> {
  return linesOf(`
    const error = Object.assign(new Error('it broke'), { code: ${JSON.stringify(code)} })
    log.error({ error, code: 'cs_code_x' }, 'x')`)
}

/** Returns the log lines that a script writes. */
async function linesOf(script: string): Promise<string> {
  const whole = `
    const { log, flush } = (await import(${JSON.stringify(module)})).createLog('info')
    ${script}
    await flush()`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', whole])
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

test('LOG-07 the log contains no value under the name of a secret, wherever a library puts it', async () => {
  for (const name of ['authorization', 'cookie', 'set-cookie', 'password', 'secret', 'token', 'code', 'verifier']) {
    const line = await linesOf(`
      const secret = { [${JSON.stringify(name)}]: 'cs_canary' }
      log.info(secret, 'x')
      log.info({ headers: secret }, 'x')`)
    assert.match(line, /^\{.*"\[redacted\]".*\n\{.*"\[redacted\]".*\n$/, name)
    assert.doesNotMatch(line, /cs_canary/, name)
  }
})

test('LOG-07 the log contains the message of an error, and no row that a database quotes in it', async () => {
  const fields = {
    code: '23505',
    detail: 'Key (handle)=(cs_canary) already exists.',
    where: 'cs_canary',
    parameters: ['cs_canary'],
  }
  const line = await linesOf(
    `log.error({ error: Object.assign(new Error('it broke'), ${JSON.stringify(fields)}) }, 'x')`,
  )
  assert.equal(JSON.parse(line).error.message, 'it broke')
  assert.doesNotMatch(line, /cs_canary/)
})

/** Runs a script with a log; returns its exit code and what it wrote to standard error. */
async function runWithLog(script: string, output: 'pipe' | number, before = (_child: ChildProcess) => {}) {
  const whole = `const { log, flush } = (await import(${JSON.stringify(module)})).createLog('info')\n${script}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', whole], { stdio: ['ignore', output, 'pipe'] })
  before(child)
  let said = ''
  child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const [code] = await once(child, 'close', { signal: AbortSignal.timeout(20_000) })
  return { said, code }
}

test('LOG-08 a log that cannot be written stops no process, is reported once, and delays no exit', async () => {
  await using full = await open('/dev/full', 'a')
  const lines = `for (let nth = 0; nth < 20; nth += 1) { log.info('x'.repeat(200_000)); await flush() }`
  for (const ending of ['', 'process.exit(0)', `log.fatal('giving up'); process.exit(0)`]) {
    const { said, code } = await runWithLog(`${lines}\n${ending}`, full.fd)
    assert.equal(said, 'The log cannot be written (ENOSPC). The service continues without it.\n')
    assert.equal(code, 0)
  }
})

test('LOG-08 when the reader of the log ends, the process continues', async () => {
  const script = `for (let nth = 0; nth < 20; nth += 1) { log.info('here'); await flush() }`
  const { said, code } = await runWithLog(script, 'pipe', ({ stdout }) => stdout?.destroy())
  assert.equal(said, '')
  assert.equal(code, 0)
})

test('LOG-08 a reader that is stuck delays an exit by seconds, and does not change its code', async () => {
  const script = `
    const { spawnSync } = await import('node:child_process')
    for (let nth = 0; nth < 100; nth += 1) log.info('x'.repeat(10_000))
    await flush()
    spawnSync(process.execPath, ['-e', ''], { stdio: 'inherit' })
    log.info('the end')
    await flush()
    log.info('the last line')
    process.exit(3)`
  for (const rest of ['', "process.stdout.write('announced')"]) {
    const { said, code } = await runWithLog(`${rest}\n${script}`, 'pipe')
    assert.deepEqual([said, code], ['', 3])
  }
})

test('LOG-08 lines that no one reads take a limited memory, and those dropped are counted', async () => {
  const script = `
    for (let nth = 0; nth < 400; nth += 1) log.info('x'.repeat(10_000))
    process.stderr.write('full. ')
    await flush()`
  const read = ({ stdout, stderr }: ChildProcess) => stderr?.once('data', () => stdout?.resume())
  const { said, code } = await runWithLog(script, 'pipe', read)
  assert.match(said, /^full\. The log is written again\. Lines that were dropped: 29\d\.\n$/)
  assert.equal(code, 0)
})
