import { type Language, isolate } from '@countersign/protocol/formats/registries/languages'
import { type Letter, type Mail, mailIn } from '#platform/outbound/mail.ts'

type About = { to: string; organization: string; inviter: string; url: string; language: Language; service: string }

/** Returns the mail that invites an address to join an organization. */
export function invitationMail({ to, organization, inviter, url, language, service }: About): Mail {
  const letter: Letter = {
    en: {
      subject: `You are invited to ${organization} on ${service}`,
      text:
        `${inviter} invited you to join ${organization}.\n\n` +
        `See the invitation, and join: ${url}\n\n` +
        `The link works once, expires in seven days, and proves that this address is yours: don’t forward it. ` +
        `If you weren’t expecting this, you can ignore this e-mail.\n`,
    },
    de: {
      subject: `Einladung zu ${organization} bei ${service}`,
      text:
        `${inviter} lädt dich ein, ${organization} beizutreten.\n\n` +
        `Sieh dir die Einladung an und tritt bei: ${url}\n\n` +
        `Der Link gilt nur einmal, sieben Tage lang, und belegt, dass diese Adresse dir gehört: Leite ihn nicht ` +
        `weiter. Wenn du die Einladung nicht erwartet hast, kannst du diese E-Mail ignorieren.\n`,
    },
    ar: {
      subject: `دعوة إلى ${isolate(organization)} على ${isolate(service)}`,
      text:
        `دعاك ${isolate(inviter)} إلى الانضمام إلى ${isolate(organization)}.\n\n` +
        `اطّلع على الدعوة وانضم:\n${url}\n\n` +
        'يعمل الرابط مرة واحدة، وتنتهي صلاحيته خلال سبعة أيام، ويُثبت أن هذا العنوان لك: فلا تُعِد توجيهه. ' +
        'إذا لم تكن تتوقع هذه الدعوة، فيمكنك تجاهل هذه الرسالة.\n',
    },
  }
  return mailIn(language, to, letter)
}
