import { isolate } from '@countersign/protocol/formats/registries/languages'
import { mailOwners } from '#accounts/operators/operator.ts'
import type { Config } from '#platform/config/config.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { type Mail, mailInAllLanguages } from '#platform/outbound/mail.ts'

type About = { to: string; key: string; config: Pick<Config, 'authUrl' | 'brand'>; now: Date }

/** Mails the active owners that a sink was changed. */
export function mailChange(kernel: ServerContext, key: string, now: Date): Promise<void> {
  const mailTo = (to: string) => sinkChangedMail({ to, key, config: kernel.config, now })
  return mailOwners(kernel, { mailTo, failure: 'mail about a sink failed' }, now)
}

/** Builds the mail to an owner when a receiver of the audit log was changed. Their language is unknown. */
function sinkChangedMail({ to, key, config: { authUrl, brand }, now }: About): Mail {
  const { host } = authUrl
  const at = now.toISOString()
  return mailInAllLanguages(to, {
    en: {
      subject: `A receiver of the audit log of ${brand.name} was changed`,
      text:
        `The sink “${key}” of the audit log was added, changed, replayed or removed at ${host} (${at}).\n\n` +
        `If none of you did this, read the audit log, and remove the operator or admin token that it names.`,
    },
    de: {
      subject: `Ein Empfänger des Audit-Logs von ${brand.name} wurde geändert`,
      text:
        `Der Empfänger „${key}“ des Audit-Logs wurde auf ${host} hinzugefügt, geändert, erneut beliefert oder ` +
        `entfernt (${at}).\n\n` +
        `Wenn es niemand von euch war, prüft das Audit-Log und entfernt den Betreiber oder das Admin-Token darin.`,
    },
    ar: {
      subject: `تغيّر أحد مستقبلي سجل التدقيق في ${isolate(brand.name)}`,
      text:
        `أُضيف مستقبل سجل التدقيق ${isolate(key)} أو غُيّر أو أُعيد الإرسال إليه أو أُزيل على ${isolate(host)} ` +
        `(${isolate(at)}).\n\n` +
        'إذا لم يفعل ذلك أحد منكم، فراجعوا سجل التدقيق، وأزيلوا المشغّل أو رمز الإدارة المذكور فيه.',
    },
  })
}
