import type { ComponentChildren } from 'preact'
import { useLocale } from '../words.ts'
import { RouteLink } from '../../../components/frame/route.tsx'
import { Card } from '../../../components/ui/Card.tsx'
import { Chip } from '../../../components/ui/Chip.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { readSiteSettings } from '../../../lib/page-data.ts'
import { dayOf } from '../../../lib/text/dates.ts'
import { routePath, type Section } from '../sections.ts'
import { useAccountWords } from '../words.ts'
import type { HomeProps } from './GoTo.tsx'
import { securityTasks, type SecurityTask } from './security-tasks.ts'

/** Says how safe the account is, and offers the next thing to do. */
export function SecurityCheck({ data, onGo }: HomeProps) {
  const words = useAccountWords().home
  const { language } = useLocale()
  const hasMail = readSiteSettings().mail
  const tasks = securityTasks(data, hasMail)
  const isOpen = (kind: SecurityTask['kind']) => tasks.some((task) => task.kind === kind)
  const { passkeys, recoverySince } = data
  const email = tasks.find((task) => task.kind === 'email')
  return (
    <Card
      title={words.check}
      actions={
        tasks.length === 0 ? (
          <Chip tone="ok" icon="check">
            {words.allGood}
          </Chip>
        ) : (
          <Chip tone="wait" icon="circle-alert">
            {words.toDo(tasks.length)}
          </Chip>
        )
      }
    >
      <ul class="permits checks">
        <Check isOkay={!isOpen('passkey')} note={isOpen('passkey') ? words.onePasskey : words.passkeysFine}>
          {words.passkeys(passkeys.length)}
        </Check>
        {recoverySince === null ? (
          <Check isOkay={false} note={words.codeMissingWhy}>
            {words.codeMissing}
          </Check>
        ) : (
          <Check isOkay note={words.codeSince(dayOf(recoverySince, language, new Date()))}>
            {words.codeSaved}
          </Check>
        )}
        {hasMail &&
          (email ? (
            <Check isOkay={false} note={words.emailMissingWhy}>
              {words.emailMissing(email.handle)}
            </Check>
          ) : (
            <Check isOkay>{words.emailVerified}</Check>
          ))}
      </ul>
      <NextTask task={tasks[0]} onGo={onGo} />
    </Card>
  )
}

type CheckProps = { isOkay: boolean; note?: string; children: ComponentChildren }

function Check({ isOkay, note, children }: CheckProps) {
  return (
    <li class={isOkay ? 'okay' : 'amber'}>
      <Icon name={isOkay ? 'circle-check' : 'circle-alert'} />
      <span>
        {children}
        {note !== undefined && <small>{note}</small>}
      </span>
    </li>
  )
}

type NextTaskProps = { task: SecurityTask | undefined; onGo: (section: Section) => void }

function NextTask({ task, onGo }: NextTaskProps) {
  const words = useAccountWords().home
  if (!task) return null
  const labels = { code: words.createCode, passkey: words.addPasskey, email: words.addEmail }
  const section = task.kind === 'email' ? 'identities' : 'security'
  return (
    <div class="row">
      <RouteLink class="button" action="next-task" href={routePath(section)} onFollow={() => onGo(section)}>
        {labels[task.kind]}
      </RouteLink>
    </div>
  )
}
