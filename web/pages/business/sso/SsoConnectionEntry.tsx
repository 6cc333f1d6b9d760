import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import type { SsoConnection } from '@countersign/protocol/organizations/sso'
import { dayOf } from '../../../lib/text/dates.ts'
import { NamedLabel } from '../../../components/display/NamedLabel.tsx'
import { Actions } from '../../../components/form/Actions.tsx'
import { CopyableFields } from '../../../components/display/Copies.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { useLocale } from '../../../components/frame/Root.tsx'
import { type SignedAction, act, signedOrUnsigned } from '../session/acts.ts'
import { callBusiness, useReauthenticatedDialog, withRecentAuthentication } from '../session/session.ts'
import { EditSsoConnection } from './ChangeSsoConnection.tsx'
import { ConfirmSsoConnection } from './ConfirmSsoConnection.tsx'
import { valuesOf } from './values-for-provider.ts'
import { GroupRules } from './GroupRules.tsx'
import { EncryptionKey } from './EncryptionKey.tsx'
import { connectionRef } from '../session/membership.ts'
import { ConfirmDialog } from '../session/ConfirmDialog.tsx'
import { type BusinessWords, useBusinessMessages } from '../words.ts'
import { joinNames } from '../../../lib/text/lists.ts'

const one = '/api/organizations/:organizationId/sso-connections/:connectionId'

type Props = {
  of: SsoConnection
  /** The verified domains of the organization. */
  domains: string[]
  organization: OwnOrganization
  onChanged: () => unknown
}

/** A connection: its status, the values that its provider needs, and its actions. */
export function SsoConnectionEntry({ of: connection, domains, organization, onChanged }: Props) {
  const { sso: words, groupRules } = useBusinessMessages()
  const doing = useActions()
  const { connectionId, name, enabled, testedAt, confirmedAt, saml } = connection
  const changing = useReauthenticatedDialog(`change-${connectionId}`)
  const grouping = useReauthenticatedDialog(`groups-${connectionId}`)
  const encrypting = useReauthenticatedDialog(`encryption-${connectionId}`)
  const deleting = useReauthenticatedDialog(`delete-${connectionId}`)
  const given = connectionRef(organization, connection)
  const common = { given, onChanged }
  const turn = async () => {
    await act(`PATCH ${one}`, { ...given, body: { enabled: !enabled } })
    await onChanged()
  }
  const removeBy = async (how: SignedAction) => {
    await how(`DELETE ${one}`, { ...given, body: null })
    deleting.close()
    await onChanged()
  }
  const agree: Action = { name: 'delete-connection', label: words.removeNow, do: () => removeBy(act) }
  const named = (label: string) => <NamedLabel label={label} of={name} />
  const quiet = (action: string, label: string, run: Action['do']): Action => {
    return { name: `${action}-${connectionId}`, label: named(label), look: 'quiet', do: run }
  }
  const actions: Action[] = [
    {
      name: `test-${connectionId}`,
      label: named(words.test),
      look: testedAt === null ? 'primary' : 'secondary',
      do: () =>
        withRecentAuthentication(async () => location.assign((await callBusiness(`POST ${one}/test`, given)).url)),
    },
    quiet('change', words.change, changing.open),
    quiet('groups', groupRules.title, grouping.open),
    ...(saml ? [quiet('encryption', words.encryption, encrypting.open)] : []),
    quiet('enable', enabled ? words.disable : words.enable, turn),
    quiet('delete', words.remove, () => signedOrUnsigned(removeBy, deleting.open)),
  ]
  return (
    <li class="entry domain">
      <div>
        <h2>{name}</h2>
        <Standing of={connection} words={words} />
      </div>
      <CopyableFields of={valuesOf(connection, words)} owner={name} />
      {confirmedAt === null && organization.role === 'owner' && <ConfirmSsoConnection {...common} of={connection} />}
      <Actions of={actions} doing={doing} />
      {changing.isOpen && <EditSsoConnection {...common} of={connection} domains={domains} onClose={changing.close} />}
      {grouping.isOpen && (
        <GroupRules {...common} of={connection} organization={organization} onClose={grouping.close} />
      )}
      {encrypting.isOpen && <EncryptionKey {...common} of={connection} onClose={encrypting.close} />}
      {deleting.isOpen && (
        <ConfirmDialog title={words.removeTitle(name)} agree={agree} onClose={deleting.close}>
          {words.removeWhat}
        </ConfirmDialog>
      )}
    </li>
  )
}

type StandingProps = { of: SsoConnection; words: BusinessWords['sso'] }

function Standing({ of: connection, words }: StandingProps) {
  const { language } = useLocale()
  const { enabled, testedAt, confirmedAt, oidc, saml } = connection
  const tested = testedAt === null ? words.untested : words.tested(dayOf(testedAt, language, new Date()))
  return (
    <>
      <p>{oidc?.issuer ?? saml?.entityId}</p>
      <p>{enabled ? tested : words.disabled}</p>
      {enabled && confirmedAt === null && <p>{words.unconfirmed}</p>}
      {enabled && <p>{whoJoins(connection, words)}</p>}
    </>
  )
}

function whoJoins({ domains, scim }: SsoConnection, words: BusinessWords['sso']): string {
  if (scim) return words.directed
  return domains.length === 0 ? words.noDomains : words.joins(joinNames(domains))
}
