import type { App } from '@countersign/protocol/clients/apps'
import { BreakableText } from '../../../components/display/BreakableText.tsx'
import { useLocale } from '../../../components/frame/Root.tsx'
import { RouteLink } from '../../../components/frame/route.tsx'
import { Card } from '../../../components/ui/Card.tsx'
import { Chip } from '../../../components/ui/Chip.tsx'
import { Facts } from '../../../components/ui/Facts.tsx'
import { formatDayAlone } from '../../../lib/text/dates.ts'
import { useOperator } from '../acting/operator.ts'
import { type Navigate, routePath } from '../routes.ts'
import { useAppsMessages } from './words.ts'

/** How an app is registered. */
export function AppFacts({ app, goTo }: { app: App; goTo: Navigate }) {
  const words = useAppsMessages()
  const { language } = useLocale()
  const { label, about } = words.kinds[app.public ? 'public' : 'confidential']
  const { websiteUrl, ownerIdentityId } = app
  return (
    <Card title={words.facts.title}>
      <Facts
        of={[
          {
            label: words.facts.status,
            value:
              app.status === 'active' ? (
                <Chip tone="ok">{words.facts.active}</Chip>
              ) : (
                <Chip tone="bad">{words.disabled}</Chip>
              ),
          },
          { label: words.kind, value: label, note: about },
          {
            label: words.redirectUris,
            value: (
              <div class="stack tight">
                {app.redirectUris.map((uri) => (
                  <code key={uri} dir="ltr">
                    <BreakableText text={uri} />
                  </code>
                ))}
              </div>
            ),
          },
          { label: words.facts.scopes, value: <code dir="ltr">{app.allowedScopes.join(' ')}</code> },
          ...(websiteUrl === null
            ? []
            : [
                {
                  label: words.facts.website,
                  value: (
                    <a href={websiteUrl} rel="noreferrer" dir="ltr">
                      <BreakableText text={websiteUrl} />
                    </a>
                  ),
                },
              ]),
          { label: words.facts.created, value: formatDayAlone(app.createdAt, language, new Date()) },
          ...(ownerIdentityId === null
            ? []
            : [{ label: words.facts.owner, value: <Owner identityId={ownerIdentityId} goTo={goTo} /> }]),
        ]}
      />
    </Card>
  )
}

/** Names the identity that registered an app by its ID. Reading its name would be a view, which is audited. */
function Owner({ identityId, goTo }: { identityId: string; goTo: Navigate }) {
  const { may } = useOperator()
  const id = <code dir="ltr">{identityId}</code>
  const place = { section: 'people', id: identityId } as const
  if (!may('people.read')) return id
  return (
    <RouteLink href={routePath(place)} action="open-owner" onFollow={() => goTo(place)}>
      {id}
    </RouteLink>
  )
}
