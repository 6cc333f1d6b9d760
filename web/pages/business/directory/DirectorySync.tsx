import type { SsoConnection } from '@countersign/protocol/organizations/sso'
import { useEffect, useState } from 'preact/hooks'
import { CopyableFields } from '../../../components/display/Copies.tsx'
import { NamedLabel } from '../../../components/display/NamedLabel.tsx'
import { Actions } from '../../../components/form/Actions.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { PageHead } from '../../../components/frame/Frame.tsx'
import { useLocale } from '../../../components/frame/Root.tsx'
import { RouteLink } from '../../../components/frame/route.tsx'
import { Card, Empty, Skeleton } from '../../../components/ui/Card.tsx'
import { dayOf } from '../../../lib/text/dates.ts'
import type { SectionProps } from '../OrganizationPage.tsx'
import { routePath } from '../routes.ts'
import { connectionRef, memberContext } from '../session/membership.ts'
import { callBusiness, useReauthenticatedDialog } from '../session/session.ts'
import { useBusinessMessages } from '../words.ts'
import { ScimToken } from './ScimToken.tsx'

/** Directory sync (SCIM): the connections of the organization, and whether a directory controls who can join. */
export function DirectorySync({ organization, goTo }: SectionProps) {
  const words = useBusinessMessages()
  const doing = useActions()
  const [connections, setConnections] = useState<SsoConnection[]>()
  const read: Action = {
    name: 'retry',
    label: words.retry,
    do: async () => {
      const path = 'GET /api/organizations/:organizationId/sso-connections'
      setConnections((await callBusiness(path, memberContext(organization))).connections)
    },
  }
  useEffect(() => void doing.perform(read), [])
  const sso = { at: 'organization', organizationId: organization.id, section: 'sso' } as const
  return (
    <>
      <PageHead title={words.sections.directory} lead={words.directory.lead} />
      {connections === undefined && (
        <Card flush>{doing.problem === undefined ? <Skeleton rows={2} /> : <Actions of={[read]} doing={doing} />}</Card>
      )}
      {connections?.length === 0 && (
        <Card>
          <Empty icon="refresh-cw" title={words.directory.noConnection} level={2}>
            <p>{words.directory.noConnectionWhat}</p>
            <RouteLink class="button primary" action="go-to-sso" href={routePath(sso)} onFollow={() => goTo(sso)}>
              {words.sso.add}
            </RouteLink>
          </Empty>
        </Card>
      )}
      {connections !== undefined && connections.length > 0 && (
        <Card flush>
          <ul class="entries">
            {connections.map((each) => (
              <Directory key={each.connectionId} of={each} organization={organization} onChanged={read.do} />
            ))}
          </ul>
        </Card>
      )}
    </>
  )
}

type DirectoryProps = { of: SsoConnection; organization: SectionProps['organization']; onChanged: () => unknown }

/** The directory of a connection: its status, the address to enter there, and its token. */
function Directory({ of: connection, organization, onChanged }: DirectoryProps) {
  const { directory: words } = useBusinessMessages()
  const { language } = useLocale()
  const doing = useActions()
  const { connectionId, name, oidc, saml, scim } = connection
  const dialog = useReauthenticatedDialog(`directory-${connectionId}`)
  const mayMake = organization.scopes.includes('manage_org')
  const change: Action = {
    name: `directory-${connectionId}`,
    label: <NamedLabel label={scim ? words.change : words.setUp} of={name} />,
    look: 'secondary',
    do: dialog.open,
  }
  return (
    <li class="entry domain">
      <div>
        <h2>{name}</h2>
        <p>{oidc?.issuer ?? saml?.entityId}</p>
        <p>{scim ? words.on(dayOf(scim.tokenCreatedAt, language, new Date())) : words.off}</p>
        {!scim && !mayMake && <p>{words.ownersOnly}</p>}
      </div>
      {scim && (
        <CopyableFields
          of={[{ label: words.address, value: scim.baseUrl, action: 'copy-directory-address' }]}
          owner={name}
        />
      )}
      {(scim || mayMake) && <Actions of={[change]} doing={doing} />}
      {dialog.isOpen && (
        <ScimToken
          of={connection}
          given={connectionRef(organization, connection)}
          mayMake={mayMake}
          onChanged={onChanged}
          onClose={dialog.close}
        />
      )}
    </li>
  )
}
