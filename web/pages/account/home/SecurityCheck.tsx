import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useLocale } from '../words.ts'
import { RouteLink } from '../../../components/frame/route.tsx'
import { Card } from '../../../components/ui/Card.tsx'
import { Chip } from '../../../components/ui/Chip.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { readSiteSettings } from '../../../lib/page-data.ts'
import { dayOf } from '../../../lib/text/dates.ts'
import { joinNames } from '../../../lib/text/lists.ts'
import { routePath, type Section } from '../sections.ts'
import { useAccountWords } from '../words.ts'
import type { HomeProps } from './GoTo.tsx'
import { areKept, formerPasskeys, keepAll } from './former-passkeys.ts'
import { securityTasks, type SecurityTask } from './security-tasks.ts'

/** Says how safe the account is, and offers the next thing to do. */
export function SecurityCheck({ data, onGo }: HomeProps) {
  const words = useAccountWords().home
  const { language } = useLocale()
  const hasMail = readSiteSettings().mail
  const { passkeys, recoverySince, recoveredAt } = data
  const [isKept, setKept] = useState(() => areKept(recoveredAt))
  const former = isKept ? [] : formerPasskeys(passkeys, recoveredAt, new Date())
  const keep = () => {
    if (recoveredAt !== null) keepAll(recoveredAt)
    setKept(true)
  }
  const tasks = securityTasks(data, { former, hasMail })
  const isOpen = (kind: SecurityTask['kind']) => tasks.some((task) => task.kind === kind)
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
        {former.length > 0 && (
          <Check isOkay={false} note={words.formerWhy(joinNames(former.map(({ name }) => name)))}>
            {words.former}
          </Check>
        )}
        {isOpen('keys') && (
          <Check isOkay={false} note={words.keysLockedWhy}>
            {words.keysLocked}
          </Check>
        )}
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
      <NextSteps task={tasks[0]} onGo={onGo} {...(former.length > 0 && { onKeep: keep })} />
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

type NextStepsProps = {
  task: SecurityTask | undefined
  onGo: (section: Section) => void
  /** Keeps the passkeys from before a recovery, if there are any. */
  onKeep?: () => void
}

function NextSteps({ task, onGo, onKeep }: NextStepsProps) {
  const words = useAccountWords().home
  if (!task) return null
  const labels = {
    keys: words.unlockKeys,
    code: words.createCode,
    former: words.reviewPasskeys,
    passkey: words.addPasskey,
    email: words.addEmail,
  }
  const section = task.kind === 'email' ? 'identities' : 'security'
  return (
    <div class="row">
      <RouteLink class="button" action="next-task" href={routePath(section)} onFollow={() => onGo(section)}>
        {labels[task.kind]}
      </RouteLink>
      {onKeep && (
        <button type="button" class="button ghost" data-action="keep-passkeys" onClick={onKeep}>
          {words.keepPasskeys}
        </button>
      )}
    </div>
  )
}
