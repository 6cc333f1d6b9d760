import { Fragment } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { CopyButton } from '../../components/display/Copies.tsx'
import { PageHead, PageLayout } from '../../components/frame/Frame.tsx'
import { useLocale, usePageMessages } from '../../components/frame/Root.tsx'
import { Card, Empty, Skeleton } from '../../components/ui/Card.tsx'
import { readSiteSettings } from '../../lib/page-data.ts'
import { momentOf } from '../../lib/text/dates.ts'
import { devMailMessages as en } from '../../locales/en/pages/dev-mail.ts'
import { codeIn, fetchMails, splitAtLinks, type ShownMail } from './mail-parts.ts'
import { lateTexts } from '../../locales/late-texts.ts'

const de = lateTexts('de', async () => (await import('../../locales/de/pages/dev-mail.ts')).devMailMessages)
const ar = lateTexts('ar', async () => (await import('../../locales/ar/pages/dev-mail.ts')).devMailMessages)
import './dev-mail.css'

const refreshMilliseconds = 2000

/** Shows the mails that a service on localhost would have sent. New ones appear by themselves. */
export function DevMail() {
  const words = usePageMessages({ en, de, ar })
  const { mails, isFailing } = useMails()
  return (
    <PageLayout title={words.title} wide>
      <PageHead title={words.title} lead={words.lead} />
      {isFailing && (
        <p class="note bad" role="alert">
          {words.failed}
        </p>
      )}
      {mails === undefined ? !isFailing && <Skeleton rows={3} /> : <MailList mails={mails} />}
      <p class="small">
        <a href="/help/operations/settings#mail">{words.setUp}</a>
      </p>
    </PageLayout>
  )
}

function MailList({ mails }: { mails: ShownMail[] }) {
  const words = usePageMessages({ en, de, ar })
  if (mails.length === 0)
    return (
      <Empty icon="inbox" title={words.empty} level={2}>
        <p>{words.emptyHint}</p>
      </Empty>
    )
  return (
    <div class="stack" data-mails={mails.length}>
      <p class="vh" role="status">
        {words.count(mails.length)}
      </p>
      {mails.map((mail) => (
        <MailCard key={mail.id} mail={mail} />
      ))}
    </div>
  )
}

function MailCard({ mail: { at, to, subject, text } }: { mail: ShownMail }) {
  const words = usePageMessages({ en, de, ar })
  const { language } = useLocale()
  const { baseUrl, authUrl, businessUrl } = readSiteSettings()
  const code = codeIn(text)
  const when = <time dateTime={at}>{momentOf(at, language)}</time>
  return (
    <Card title={subject} about={`${words.to} ${to}`} actions={<span class="soft small">{when}</span>} class="mail">
      {code !== undefined && (
        <div class="mail-code">
          <code aria-label={words.code}>{code}</code>
          <CopyButton text={code} action="copy-code" what={words.code} />
        </div>
      )}
      <p class="mail-text">
        {splitAtLinks(text.trim(), [baseUrl, authUrl, businessUrl]).map((part, nth) => (
          <Fragment key={nth}>{part.url === undefined ? part.text : <a href={part.url}>{part.text}</a>}</Fragment>
        ))}
      </p>
    </Card>
  )
}

function useMails() {
  const [mails, setMails] = useState<ShownMail[]>()
  const [isFailing, setFailing] = useState(false)
  useEffect(() => {
    const refresh = async () => {
      if (document.hidden) return
      try {
        setMails(await fetchMails())
        setFailing(false)
      } catch {
        setFailing(true)
      }
    }
    void refresh()
    const timer = setInterval(() => void refresh(), refreshMilliseconds)
    const onVisible = () => void refresh()
    document.addEventListener('visibilitychange', onVisible)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', onVisible)
    }
  }, [])
  return { mails, isFailing }
}
