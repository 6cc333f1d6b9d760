import type { Command } from 'commander'
import { call } from '../call.ts'
import { settingsOf } from '../settings.ts'
import { CliError, printJson } from '../terminal.ts'
import { findIdentityId } from './identity.ts'

/** `email` is false for `--no-email`. */
type Edit = { username?: string; name?: string; email?: string | false }

export function addEdit(people: Command): void {
  people
    .command('edit')
    .description('change an identity; its user sees it in their activity, and by e-mail if the address changes')
    .argument('<identity>', 'username or identity ID')
    .option('--username <username>', 'new username; the former one stays reserved for 90 days')
    .option('--name <text>', 'new name')
    .option('--email <address>', 'new e-mail address, which is not verified')
    .option('--no-email', 'remove the e-mail address')
    .action(async (given: string, { username, name, email }: Edit, command: Command) => {
      const body = {
        ...(username !== undefined && { handle: username.replace(/^@/, '') }),
        ...(name !== undefined && { displayName: name }),
        ...(email !== undefined && { email: email === false ? null : email }),
      }
      if (Object.keys(body).length === 0) throw new CliError('name what to change: --username, --name or --email')
      const settings = settingsOf(command)
      const params = { identityId: await findIdentityId(settings, given) }
      const { identity: before } = await call(settings, 'GET /api/admin/identities/:identityId', { params })
      const headers = { 'if-match': `"${before.version}"` }
      const sent = { params, headers, body }
      const { identity } = await call(settings, 'PATCH /api/admin/identities/:identityId', sent)
      if (settings.json) return printJson({ identity })
      console.log(`@${identity.handle} is changed.`)
    })
}
