import type { ResponseOf } from '@countersign/protocol/api'
import { useEffect, useState } from 'preact/hooks'
import { Avatar } from '../../../components/ui/Avatar.tsx'
import { Card } from '../../../components/ui/Card.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { call } from '../../../lib/api/call.ts'
import { reportUnexpected } from '../../../lib/api/error-message.ts'
import { readSiteSettings } from '../../../lib/page-data.ts'
import { useAccountWords } from '../words.ts'

/** The organizations of the user, if there are any. Without an answer the card is missing: it only has links. */
export function Organizations() {
  const words = useAccountWords().home
  const [organizations, setOrganizations] = useState<ResponseOf<'GET /api/account/organizations'>['organizations']>([])
  useEffect(() => {
    call('GET /api/account/organizations', {}).then((found) => setOrganizations(found.organizations), reportUnexpected)
  }, [])
  if (organizations.length === 0) return null
  const { businessUrl } = readSiteSettings()
  return (
    <Card title={words.organizations}>
      <ul class="list plain compact">
        {organizations.map(({ id, memberId, name, role, logoUrl }) => (
          <li key={memberId}>
            <Avatar kind="organization" size="sm" name={name} picture={logoUrl} toneOf={id} />
            <div class="body">
              <strong>{name}</strong>
              <small>{words.roles[role]}</small>
            </div>
            <div class="acts">
              <a class="link" href={`${businessUrl}/organizations/${id}`} aria-label={words.openOne(name)}>
                {words.openOrganization}
                <Icon name="arrow-right" size="sm" class="flips" />
              </a>
            </div>
          </li>
        ))}
      </ul>
    </Card>
  )
}
