import { Command, CommanderError } from 'commander'
import manifest from './package.json' with { type: 'json' }
import { addChange as addChangeApp } from './apps/change.ts'
import { addCreate } from './apps/create.ts'
import { addDelete, addDisable, addEnable, addRotateSecret } from './apps/manage.ts'
import { addList, addShow } from './apps/list.ts'
import {
  addPreview,
  addRemove as addRemoveClaim,
  addSet as addSetClaim,
  addShow as addShowClaims,
} from './apps/roles/claims.ts'
import {
  addAssign as addAssignRole,
  addRemove as addRemoveRole,
  addSet as addSetRole,
  addShow as addShowRoles,
  addUnassign as addUnassignRole,
} from './apps/roles/roles.ts'
import { addBackup } from './backup/take.ts'
import { addRestore } from './backup/restore.ts'
import { ApiError } from './call.ts'
import { addCompletion } from './completion.ts'
import { addApply } from './configuration/apply.ts'
import { addExport as addExportConfiguration } from './configuration/export.ts'
import { addDoctor } from './doctor.ts'
import { CancelledError, CliError, Unproved, stripControlCharacters } from './terminal.ts'
import {
  addChange as addChangeGroup,
  addCreate as addCreateGroup,
  addDelete as addDeleteGroup,
} from './groups/change.ts'
import { addList as addGroupList, addShow as addShowGroup } from './groups/list.ts'
import { addAdd as addGroupMembers, addRemove as removeGroupMembers } from './groups/members.ts'
import {
  addCreate as addCreateInvitation,
  addDelete as addDeleteInvitation,
  addList as addInvitationList,
  addResend as addResendInvitation,
  addShow as addShowInvitation,
} from './invitations/invitations.ts'
import { addImport as addImportInvitations } from './invitations/import.ts'
import { addList as addKeyList, addRotate } from './keys.ts'
import { addVerifyEvidence } from './log/verify-evidence.ts'
import { addWatch } from './log/watch.ts'
import {
  addAdd as addOperator,
  addChange as addChangeOperator,
  addList as addOperatorList,
  addRemove as addRemoveOperator,
} from './operators/manage.ts'
import {
  addCreate as addCreateToken,
  addList as addTokenList,
  addRevoke as addRevokeToken,
  addRotate as addRotateToken,
} from './operators/tokens.ts'
import {
  addCreate as addCreateScimToken,
  addDelete as addDeleteScimToken,
  addList as addScimTokenList,
  addRotate as addRotateScimToken,
} from './operators/scim-tokens.ts'
import { addFollow as addAuditFollow } from './operators/follow.ts'
import { addExport as addAuditExport, addList as addAuditList } from './operators/audit.ts'
import {
  addGet as addGetSettings,
  addHistory as addSettingHistory,
  addLogo as addSettingLogo,
  addRestore as addRestoreSettings,
  addSet as addSetSettings,
} from './operators/settings.ts'
import {
  addActivate,
  addList as addOrganizationList,
  addShow as addShowOrganization,
  addSuspend,
} from './organizations.ts'
import { addActivate as addActivatePerson, addSignOut, addSuspend as addSuspendPerson } from './people/suspend.ts'
import { addActivity } from './people/activity.ts'
import { addApps } from './people/apps.ts'
import { addCreate as addCreateIdentity, addInvite } from './people/create.ts'
import { addDelete as addDeleteIdentity, addRestore as addRestoreIdentity } from './people/delete.ts'
import { addEdit } from './people/edit.ts'
import { addExport } from './people/export.ts'
import { addList as addPeopleList } from './people/list.ts'
import { addCancelRecovery, addRecoveryLink, addRecoveryLinks } from './people/recover.ts'
import { addShow as addShowIdentity } from './people/show.ts'
import { addChange, addCreate as addCreateResource } from './resources/change.ts'
import {
  addDisable as addDisableResource,
  addEnable as addEnableResource,
  addList as addResourceList,
} from './resources/list.ts'
import { addSettings } from './settings.ts'
import { addShard } from './database/shard.ts'
import { addInit, addShow as addShowTrust } from './trust.ts'
import { addStatus } from './operators/status.ts'
import { addVerify as addAuditVerify } from './operators/verify-audit.ts'
import { addVerify } from './verify.ts'
import { addVerifyTrail } from './trail/verify-trail.ts'
import { addDeliveries, addSendAgain } from './webhooks/deliveries.ts'
import {
  addAdd as addSink,
  addList as addSinkList,
  addPause as addPauseSink,
  addRemove as addRemoveSink,
  addReplay as addReplaySink,
  addResume as addResumeSink,
  addRotateSecret as addRotateSinkSecret,
  addSet as addSetSink,
  addShow as addShowSink,
  addTest as addTestSink,
} from './sinks/sinks.ts'
import {
  addAdd as addServiceWebhook,
  addDisable as addDisableWebhook,
  addEnable as addEnableWebhook,
  addList as addWebhookList,
  addSelect as addSelectEvents,
} from './webhooks/service.ts'
import {
  addRemove,
  addRotateSecret as addRotateWebhookSecret,
  addSet,
  addShow as addShowWebhook,
  addTest,
} from './webhooks/webhook.ts'

const program = new Command('countersign').description('Administers a Countersign server, over its admin API.')
program.version(manifest.version, '-V, --version', 'print the version').exitOverride()
const wantsJson = process.argv.includes('--json')
program.showHelpAfterError('(see --help)')
// Subcommands inherit the settings of their parents when they are created.
if (wantsJson) program.configureOutput({ writeErr: () => undefined })
addSettings(program)

const apps = program.command('apps').description('manage apps (OAuth clients)')
addCreate(apps)
addList(apps)
addShow(apps)
addChangeApp(apps)
addRotateSecret(apps)
addDisable(apps)
addEnable(apps)
addDelete(apps)

const roles = apps.command('roles').description('manage the roles of users in an app')
addShowRoles(roles)
addSetRole(roles)
addAssignRole(roles)
addUnassignRole(roles)
addRemoveRole(roles)

const claims = apps.command('claims').description('manage the claims of an app, made of groups, roles and texts')
addShowClaims(claims)
addSetClaim(claims)
addRemoveClaim(claims)
addPreview(claims)

const resources = program.command('resources').description('manage connector resources')
addCreateResource(resources)
addResourceList(resources)
addChange(resources)
addDisableResource(resources)
addEnableResource(resources)

const webhooks = program.command('webhooks').description('manage webhooks of apps and of the service')
addWebhookList(webhooks)
addServiceWebhook(webhooks)
addSet(webhooks)
addSelectEvents(webhooks)
addDisableWebhook(webhooks)
addEnableWebhook(webhooks)
addShowWebhook(webhooks)
addTest(webhooks)
addDeliveries(webhooks)
addSendAgain(webhooks)
addRotateWebhookSecret(webhooks)
addRemove(webhooks)

const organizations = program.command('organizations').description('manage organizations')
addOrganizationList(organizations)
addShowOrganization(organizations)
addSuspend(organizations)
addActivate(organizations)

const groups = program.command('groups').description('manage groups of identities')
addGroupList(groups)
addCreateGroup(groups)
addShowGroup(groups)
addChangeGroup(groups)
addDeleteGroup(groups)
addGroupMembers(groups)
removeGroupMembers(groups)

const invitations = program.command('invitations').description('invite people to register')
addInvitationList(invitations)
addCreateInvitation(invitations)
addImportInvitations(invitations)
addShowInvitation(invitations)
addResendInvitation(invitations)
addDeleteInvitation(invitations)

const people = program
  .command('people')
  .description('find and add people, suspend them, sign them out, recover them, and delete them')
addPeopleList(people)
addShowIdentity(people)
addCreateIdentity(people)
addInvite(people)
addActivity(people)
addApps(people)
addExport(people)
addEdit(people)
addSuspendPerson(people)
addActivatePerson(people)
addSignOut(people)
addDeleteIdentity(people)
addRestoreIdentity(people)
addRecoveryLink(people)
addRecoveryLinks(people)
addCancelRecovery(people)
const operators = program.command('operators').description('manage the operators of the server')
addOperatorList(operators)
addOperator(operators)
addChangeOperator(operators)
addRemoveOperator(operators)

const tokens = program.command('tokens').description('manage admin tokens')
addTokenList(tokens)
addCreateToken(tokens)
addRotateToken(tokens)
addRevokeToken(tokens)

const scimTokens = program.command('scim-tokens').description('manage the tokens of directories (SCIM)')
addScimTokenList(scimTokens)
addCreateScimToken(scimTokens)
addRotateScimToken(scimTokens)
addDeleteScimToken(scimTokens)

const settings = program.command('settings').description('change settings of the running server')
addGetSettings(settings)
addSetSettings(settings)
addSettingHistory(settings)
addSettingLogo(settings)
addRestoreSettings(settings)

addApply(program)
addExportConfiguration(program)

const audit = program.command('audit').description('read and verify the audit log')
addAuditList(audit)
addAuditFollow(audit)
addAuditExport(audit)
addAuditVerify(audit)

const sinks = program.command('sinks').description('manage the receivers to which the audit log is sent')
addSinkList(sinks)
addSink(sinks)
addShowSink(sinks)
addSetSink(sinks)
addPauseSink(sinks)
addResumeSink(sinks)
addTestSink(sinks)
addReplaySink(sinks)
addRotateSinkSecret(sinks)
addRemoveSink(sinks)

const keys = program.command('keys').description('manage token-signing keys')
addKeyList(keys)
addRotate(keys)

addBackup(program)
addRestore(program)
addVerify(program)
addVerifyTrail(program)
addVerifyEvidence(program)
addWatch(program.command('log').description('verify the public log of signing keys'))
const trust = program.command('trust').description('trust the key of a transparency log in an app')
addInit(trust)
addShowTrust(trust)
addStatus(program)
addDoctor(program)
addShard(program)
addCompletion(program)

// A reader such as `head` has read enough, and closes the pipe.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

try {
  await program.parseAsync()
} catch (error) {
  process.exitCode = explain(error)
}

/** Prints an error unless it was printed already, and returns the exit code. An unexpected error keeps its stack. */
function explain(error: unknown): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0
    if (wantsJson) printError('invalid_usage', descriptionOf(error))
    return 2
  }
  if (error instanceof CancelledError) return 130
  if (!(error instanceof CliError)) throw error
  if (wantsJson) printError(codeOf(error), error.message)
  else console.error(`error: ${stripControlCharacters(error.message)}`)
  return error instanceof Unproved ? 3 : 1
}

/**
 * Returns the message of an error. Without a subcommand commander prints the help, and its message is a placeholder.
 */
function descriptionOf({ code, message }: CommanderError): string {
  return code === 'commander.help' ? 'a subcommand is required (see --help)' : message.replace(/^error: /, '')
}

function codeOf(error: CliError): string {
  if (error instanceof ApiError) return error.code
  return error instanceof Unproved ? 'unproved' : 'failed'
}

/** Prints errors in the format of the API, so that scripts parse one format only. */
function printError(code: string, description: string): void {
  console.error(JSON.stringify({ error: code, error_description: description }))
}
