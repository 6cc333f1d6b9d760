#!/usr/bin/env node
import { Command, CommanderError } from 'commander'
import manifest from './package.json' with { type: 'json' }
import { addChange as addChangeApp } from './apps/change.ts'
import { addCreate } from './apps/create.ts'
import { addDelete } from './apps/delete.ts'
import { addList } from './apps/list.ts'
import { addRotateSecret } from './apps/rotate-secret.ts'
import { addShow } from './apps/show.ts'
import { addDisable, addEnable } from './apps/status.ts'
import { addBackup } from './backup/take.ts'
import { addRestore } from './backup/restore.ts'
import { Refused } from './call.ts'
import { addCompletion } from './completion.ts'
import { addDoctor } from './doctor.ts'
import { Cancelled, Failure, Unproved } from './failure.ts'
import { addList as addKeyList } from './list.ts'
import { addRotate } from './rotate.ts'
import { addWatch } from './log/watch.ts'
import { addList as addOrganizationList } from './organizations-list.ts'
import { addShow as addShowOrganization } from './show.ts'
import { addActivate, addSuspend } from './status.ts'
import { addChange } from './resources/change.ts'
import { addCreate as addCreateResource } from './resources/create.ts'
import { addList as addResourceList } from './resources/list.ts'
import { addDisable as addDisableResource, addEnable as addEnableResource } from './resources/status.ts'
import { addSettings } from './settings.ts'
import { withoutControls } from './terminal.ts'
import { addVerify } from './verify.ts'
import { addDeliveries } from './webhooks/deliveries.ts'
import { addRemove } from './webhooks/remove.ts'
import { addRotateSecret as addRotateWebhookSecret } from './webhooks/rotate-secret.ts'
import { addSendAgain } from './webhooks/send-again.ts'
import { addSet } from './webhooks/set.ts'
import { addShow as addShowWebhook } from './webhooks/show.ts'
import { addTest } from './webhooks/test-event.ts'

const program = new Command('countersign').description('Administers a Countersign server, over its admin API.')
program.version(manifest.version, '-V, --version', 'print the version').exitOverride()
const wantsJson = process.argv.includes('--json')
program.showHelpAfterError('(--help tells more)')
// Commands take over the settings of their parents when they are made.
if (wantsJson) program.configureOutput({ writeErr: () => undefined })
addSettings(program)

const apps = program.command('apps').description('the apps that people sign in to')
addCreate(apps)
addList(apps)
addShow(apps)
addChangeApp(apps)
addRotateSecret(apps)
addDisable(apps)
addEnable(apps)
addDelete(apps)

const resources = program.command('resources').description('what apps offer other apps to act at')
addCreateResource(resources)
addResourceList(resources)
addChange(resources)
addDisableResource(resources)
addEnableResource(resources)

const webhooks = program.command('webhooks').description('where apps hear of what happened')
addSet(webhooks)
addShowWebhook(webhooks)
addTest(webhooks)
addDeliveries(webhooks)
addSendAgain(webhooks)
addRotateWebhookSecret(webhooks)
addRemove(webhooks)

const organizations = program.command('organizations').description('the organizations of people')
addOrganizationList(organizations)
addShowOrganization(organizations)
addSuspend(organizations)
addActivate(organizations)

const keys = program.command('keys').description('the keys that sign tokens')
addKeyList(keys)
addRotate(keys)

addBackup(program)
addRestore(program)
addVerify(program)
addWatch(program.command('log').description('the public log of signing keys'))
addDoctor(program)
addCompletion(program)

try {
  await program.parseAsync()
} catch (error) {
  process.exitCode = explain(error)
}

/** Prints what went wrong, where that is still unsaid, and returns the exit code. A fault of ours keeps its stack. */
function explain(error: unknown): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0
    if (wantsJson) printError('invalid_usage', descriptionOf(error))
    return 2
  }
  if (error instanceof Cancelled) return 130
  if (!(error instanceof Failure)) throw error
  if (wantsJson) printError(codeOf(error), error.message)
  else console.error(`error: ${withoutControls(error.message)}`)
  return error instanceof Unproved ? 3 : 1
}

/** Where a command lacks its second word, what is printed is its help, and the message a placeholder. */
function descriptionOf({ code, message }: CommanderError): string {
  return code === 'commander.help' ? 'name one of its commands (--help tells which)' : message.replace(/^error: /, '')
}

function codeOf(error: Failure): string {
  if (error instanceof Refused) return error.code
  return error instanceof Unproved ? 'unproved' : 'failed'
}

/** The shape of the errors of the API, so that a script reads one kind alone. */
function printError(code: string, description: string): void {
  console.error(JSON.stringify({ error: code, error_description: description }))
}
