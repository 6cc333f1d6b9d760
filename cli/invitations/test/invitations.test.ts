import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { openMailbox } from '../../../server/testing/mailbox.ts'
import { startService, testAdminToken, type Service } from '../../../server/testing/service.ts'
import { runCommand } from '../../testing/command.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.close())

const countersign = (...words: string[]) => runCommand(service, ['invitations', ...words])

test('an operator invites by a link, which is printed once, and takes the invitation back', async () => {
  assert.match((await countersign('list')).stdout, /None yet/)
  const made = await countersign('create', '--name', 'Ada Lovelace', '--uses', '3', '--hours', '2')
  assert.match(made.stdout, /Ada Lovelace[\s\S]+Used +0 of 3[\s\S]+\/register#cs_inv_/, made.stderr)
  const [, id = ''] = /^ID +(\S+)/m.exec(made.stdout) ?? []
  const shown = await countersign('show', id)
  assert.match(shown.stdout, /Status +pending/)
  assert.doesNotMatch(shown.stdout + (await countersign('list', '--json')).stdout, /cs_inv_/)
  assert.match((await countersign('resend', id)).stderr, /mailed/)
  assert.equal((await countersign('delete', id)).stdout, 'Deleted.\n')
  assert.equal((await countersign('show', id)).code, 1)
})

test('an operator invites for the shortest and the longest time, and for no longer', async () => {
  for (const hours of ['1', '2160']) {
    const { code, stderr } = await countersign('create', '--hours', hours)
    assert.equal(code, 0, stderr)
  }
  assert.match((await countersign('create', '--hours', '2161')).stderr, /an hour to 90 days/)
})

test('an operator invites an address by mail, and a wrong invitation is refused', async () => {
  const mailed = await countersign('create', '--email', 'ada@example.org', '--language', 'de')
  assert.match(mailed.stdout, /For +ada@example\.org/, mailed.stderr)
  assert.doesNotMatch(mailed.stdout, /cs_inv_/)
  const [, id = ''] = /^ID +(\S+)/m.exec(mailed.stdout) ?? []
  assert.match((await countersign('resend', id)).stdout, /^Mailed to ada@example\.org/)
  assert.match((await countersign('create', '--message', 'See evil.example')).stderr, /address/)
  assert.equal((await countersign('create', '--uses', '0')).code, 2)
})

test('an operator reads which invitations were not mailed', async (t) => {
  const mailbox = await openMailbox()
  t.after(() => mailbox.close())
  const environment = { SMTP_URL: mailbox.url, MAIL_FROM: 'id@example.org' }
  const mailing = await startService({ environment })
  t.after(() => mailing.close())
  mailbox.refuse(550)
  const made = await runCommand(mailing, ['invitations', 'create', '--email', 'ada@example.org'])
  assert.match(made.stdout, /Not mailed\. Try again/, made.stderr)
  const [, id = ''] = /^ID +(\S+)/m.exec(made.stdout) ?? []
  assert.match((await runCommand(mailing, ['invitations', 'list'])).stdout, /ada@example\.org +pending: not mailed /)
  mailbox.refuse()
  await runCommand(mailing, ['invitations', 'resend', id])
  assert.match((await runCommand(mailing, ['invitations', 'show', id])).stdout, /^Status +pending$/m)
})

test('an operator reads why an invitation is void', async () => {
  const ask = async (method: string, path: string, body: object) => {
    const headers = { authorization: `Bearer ${testAdminToken}`, 'content-type': 'application/json' }
    const url = `${service.baseUrl}/api/admin/${path}`
    return (await fetch(url, { method, headers, body: JSON.stringify(body) })).text()
  }
  const group = await ask('POST', 'groups', { key: 'vault', displayName: 'Vault' })
  const [, groupId = ''] = /"groupId":"([^"]+)"/.exec(group) ?? []
  const made = await countersign('create', '--group', 'vault', '--uses', '2')
  const [, id = ''] = /^ID +(\S+)/m.exec(made.stdout) ?? []
  await ask('PATCH', `groups/${groupId}`, { protected: true })
  assert.match((await countersign('show', id)).stdout, /^Status +void: a group is protected now$/m)
  assert.match((await countersign('list')).stdout, new RegExp(`${id} +link +void: `))
})

test('an operator checks a file, corrects it, and invites its people once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'invitations-'))
  const file = join(folder, 'people.csv')
  try {
    await writeFile(file, 'email,language\nada.import@example.org,de\nnobody,\n')
    const checked = await countersign('import', file, '--dry-run')
    assert.match(checked.stdout, /^3 +email +email must be[^]+\n1 to invite, 1 with faults\. No one was invited\.\n$/m)
    const stopped = await countersign('import', file)
    assert.deepEqual([checked.code, stopped.code], [1, 1])
    assert.match(stopped.stdout, /No one was invited: correct the file, or pass --skip-errors\.\n$/)
    assert.doesNotMatch((await countersign('list')).stdout, /ada\.import/)

    const skipped = await countersign('import', file, '--skip-errors')
    assert.match(skipped.stdout, /Invited 1 of 2\./, skipped.stderr)
    assert.match((await countersign('list')).stdout, /ada\.import@example\.org/)
    await writeFile(file, 'email\nada.import@example.org\n')
    const again = await countersign('import', file, '--json')
    assert.deepEqual([again.code, JSON.parse(again.stdout).ok], [0, 0])
    assert.equal((await countersign('import', file)).stdout, 'Invited 0 of 1. 1 invited already.\n')
    assert.match((await countersign('import', join(folder, 'none.csv'))).stderr, /cannot be read/)
  } finally {
    await rm(folder, { recursive: true })
  }
})
