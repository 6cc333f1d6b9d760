import { RouteLink } from '../../../components/frame/route.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import type { AccountData } from '../account-data.ts'
import { routePath, type Section } from '../sections.ts'

export type HomeProps = { data: AccountData; onGo: (section: Section) => void }

type GoToProps = { section: Section; label: string; onGo: (section: Section) => void }

/** A link to another section, at the end of a card. */
export function GoTo({ section, label, onGo }: GoToProps) {
  return (
    <RouteLink class="link" href={routePath(section)} onFollow={() => onGo(section)}>
      {label}
      <Icon name="arrow-right" size="sm" class="flips" />
    </RouteLink>
  )
}
