import { useState } from 'preact/hooks'
import { readSiteSettings } from '../../lib/page-data.ts'
import { Shell } from '../../components/frame/Shell.tsx'
import { PageHead } from '../../components/frame/Frame.tsx'
import { Controls } from './Controls.tsx'
import { Content } from './Content.tsx'
import { Records } from './Records.tsx'
import { Overlays } from './Overlays.tsx'

const parts = [
  { part: 'controls', label: 'Controls', icon: 'pencil' },
  { part: 'content', label: 'Content', icon: 'palette' },
  { part: 'records', label: 'Records', icon: 'scroll-text' },
  { part: 'overlays', label: 'Overlays', icon: 'app-window' },
] as const

/** Shows every component in every state. Only `npm run dev` serves it; its texts are English. */
export function Design() {
  const [shown, setShown] = useState<(typeof parts)[number]['part']>('controls')
  const { authUrl } = readSiteSettings()
  return (
    <Shell
      area="developers"
      title="Design"
      width="full"
      user={{ displayName: 'Ada Lovelace', handle: 'ada' }}
      onSignOut={() => location.assign(authUrl)}
      waiting={2}
      sections={parts.map(({ part, label, icon }) => ({
        href: `/design#${part}`,
        icon,
        label,
        current: part === shown,
        ...(part === 'records' ? { count: 2 } : {}),
        onFollow: () => setShown(part),
      }))}
    >
      <PageHead title="Components and their states" lead="Everything that the pages are made of." />
      {shown === 'controls' && <Controls />}
      {shown === 'content' && <Content />}
      {shown === 'records' && <Records />}
      {shown === 'overlays' && <Overlays />}
    </Shell>
  )
}
