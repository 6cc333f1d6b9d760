import { challengeNameOf } from '@countersign/protocol/formats/domain'
import { type Language, isolate, languages } from '@countersign/protocol/formats/registries/languages'
import type { Config } from '#platform/config/config.ts'
import { type Mail, mailInAllLanguages } from '#platform/outbound/mail.ts'
import type { DomainClaim } from './store.ts'

export type About = { to: string; organization: string; config: Pick<Config, 'businessUrl'>; claim: DomainClaim }

/**
 * Returns the mail to owners when the TXT record of a domain is missing. It names the date on which the domain is lost.
 */
export function domainFailingMail({ to, organization, config: { businessUrl }, claim }: About, end: Date): Mail {
  const { domain, challenge } = claim
  const recordLine = `${challengeNameOf(domain)}  TXT  ${challenge}`
  return mailInAllLanguages(to, {
    en: {
      subject: `Action required: DNS record for ${domain} is missing`,
      text:
        `We can no longer find the DNS record that verifies ${domain} for ${organization}. ` +
        `Restore it by ${dayOf(end, 'en')} to keep the domain verified:\n\n` +
        `${recordLine}\n\n${businessUrl.origin}`,
    },
    de: {
      subject: 'DNS-Eintrag fehlt',
      text:
        `Wir finden den DNS-Eintrag nicht mehr, der ${domain} für ${organization} bestätigt. ` +
        `Stellt ihn bis zum ${dayOf(end, 'de')} wieder her, damit die Domain bestätigt bleibt.`,
    },
    ar: {
      subject: 'سجل DNS غير موجود',
      text:
        `لم نعد نجد سجل DNS الذي يؤكد ${isolate(domain)} لمؤسسة ${isolate(organization)}. ` +
        `أعيدوا إضافته قبل ${isolate(dayOf(end, 'ar'))} ليبقى النطاق مؤكَّدًا.`,
    },
  })
}

/** Returns the mail to owners when a domain is no longer verified. */
export function domainUnverifiedMail({ to, organization, config: { businessUrl }, claim: { domain } }: About): Mail {
  return mailInAllLanguages(to, {
    en: {
      subject: `${domain} is no longer verified`,
      text:
        `${domain} is no longer verified for ${organization}, because its DNS record was missing for seven days. ` +
        `People with addresses there can't join automatically until you verify it again: ${businessUrl.origin}`,
    },
    de: {
      subject: 'ist nicht mehr bestätigt',
      text:
        `${domain} ist für ${organization} nicht mehr bestätigt, weil der DNS-Eintrag sieben Tage lang fehlte. ` +
        `Personen mit Adressen dort können nicht automatisch beitreten, bis ihr die Domain erneut bestätigt.`,
    },
    ar: {
      subject: 'لم يعد مؤكَّدًا',
      text:
        `لم يعد ${isolate(domain)} مؤكَّدًا لمؤسسة ${isolate(organization)}، لأن سجل DNS الخاص به ` +
        'لم يكن موجودًا لسبعة أيام. لا يستطيع من لديهم عناوين عليه الانضمام تلقائيًا حتى تؤكدوه من جديد.',
    },
  })
}

/** Returns the mail to owners when another organization has verified a domain of theirs. */
export function takenMail({ to, organization, config: { businessUrl }, claim: { domain, challenge } }: About): Mail {
  const recordLine = `${challengeNameOf(domain)}  TXT  ${challenge}`
  return mailInAllLanguages(to, {
    en: {
      subject: `${domain} now belongs to another organization`,
      text:
        `Another organization has verified ${domain}, and the DNS record of ${organization} was missing. ` +
        `People with addresses there can no longer sign in or join through ${organization}. If you own the domain, ` +
        `remove the other record, restore yours, and verify the domain again immediately:\n\n` +
        `${recordLine}\n\n${businessUrl.origin}`,
    },
    de: {
      subject: 'gehört jetzt einer anderen Organisation',
      text:
        `Eine andere Organisation hat ${domain} bestätigt, und der DNS-Eintrag von ${organization} fehlte. ` +
        `Personen mit Adressen dort können sich nicht mehr über ${organization} anmelden und nicht mehr beitreten. ` +
        `Wenn die Domain euch gehört, entfernt den anderen Eintrag, stellt euren wieder her ` +
        `und bestätigt sie sofort erneut.`,
    },
    ar: {
      subject: 'يخص الآن مؤسسة أخرى',
      text:
        `أكّدت مؤسسة أخرى ${isolate(domain)}، ولم يكن سجل DNS لمؤسسة ${isolate(organization)} موجودًا. ` +
        `لم يعد من لديهم عناوين عليه يستطيعون تسجيل الدخول أو الانضمام عبر ${isolate(organization)}. ` +
        'إذا كان النطاق لكم، فأزيلوا السجل الآخر، وأعيدوا سجلكم، وأكّدوا النطاق من جديد فورًا.',
    },
  })
}

function dayOf(instant: Date, language: Language): string {
  const format = { dateStyle: 'long', timeZone: 'UTC' } as const
  return new Intl.DateTimeFormat(languages[language].locale, format).format(instant)
}
