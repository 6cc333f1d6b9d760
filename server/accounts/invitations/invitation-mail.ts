import { type Language, isolate } from '@countersign/protocol/formats/registries/languages'
import type { Config } from '#platform/config/config.ts'
import { type Letter, type Mail, mailIn } from '#platform/outbound/mail.ts'

export function invitationUrl({ authUrl }: Config, token: string): string {
  return `${authUrl.origin}/register#${token}`
}

export type LetterInput = { email: string; message: string | null; language: Language; url: string }

export function letterOf({ brand }: Config, { email, ...about }: LetterInput): Mail {
  return accountInvitationMail({ ...about, to: email, service: brand.name })
}

type About = { to: string; message: string | null; url: string; language: Language; service: string }

/** Returns the mail that invites an address to register an account. */
function accountInvitationMail({ to, message, url, language, service }: About): Mail {
  const added = message === null ? '' : `${message}\n\n`
  const letter: Letter = {
    en: {
      subject: `You are invited to ${service}`,
      text:
        `You can create an account on ${service}.\n\n${added}` +
        `Create your account: ${url}\n\n` +
        `The link works once and proves that this address is yours: don’t forward it. ` +
        `If you weren’t expecting this, you can ignore this e-mail.\n`,
    },
    de: {
      subject: `Einladung zu ${service}`,
      text:
        `Du kannst bei ${service} ein Konto erstellen.\n\n${added}` +
        `Erstelle dein Konto: ${url}\n\n` +
        `Der Link gilt nur einmal und belegt, dass diese Adresse dir gehört: Leite ihn nicht weiter. ` +
        `Wenn du die Einladung nicht erwartet hast, kannst du diese E-Mail ignorieren.\n`,
    },
    ar: {
      subject: `دعوة إلى ${isolate(service)}`,
      text:
        `يمكنك إنشاء حساب في ${isolate(service)}.\n\n${added}` +
        `أنشئ حسابك:\n${url}\n\n` +
        'يعمل الرابط مرة واحدة، ويُثبت أن هذا العنوان لك: فلا تُعِد توجيهه. ' +
        'إذا لم تكن تتوقع هذه الدعوة، فيمكنك تجاهل هذه الرسالة.\n',
    },
  }
  return mailIn(language, to, letter)
}
