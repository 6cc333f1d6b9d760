import { type Language, isolate } from '@countersign/protocol/formats/registries/languages'
import type { Config } from '#platform/config/config.ts'
import { type Letter, type Mail, mailIn } from '#platform/outbound/mail.ts'

type About = { to: string; handle: string; language: Language } & Pick<Config, 'authUrl' | 'brand'>

/** Builds the mail with an email verification code. */
export function emailVerificationMail({ to, handle, authUrl: { host }, brand, language }: About, code: string): Mail {
  const letter: Letter = {
    en: {
      subject: `Your ${brand.name} verification code`,
      text:
        `${code}\n\n` +
        `Enter this code at ${host} to verify this address for @${handle}. It expires in ten minutes.\n\n` +
        `Don’t share this code. If you didn’t request it, you can ignore this e-mail.\n`,
    },
    de: {
      subject: `Dein Bestätigungscode für ${brand.name}`,
      text:
        `${code}\n\n` +
        `Gib diesen Code auf ${host} ein, um diese Adresse für @${handle} zu bestätigen. Er gilt zehn Minuten.\n\n` +
        `Gib den Code nicht weiter. Wenn du ihn nicht angefordert hast, kannst du diese E-Mail ignorieren.\n`,
    },
    ar: {
      subject: `رمز التأكيد الخاص بك في ${isolate(brand.name)}`,
      text:
        `${code}\n\n` +
        `أدخل هذا الرمز على ${isolate(host)} لتأكيد هذا العنوان للهوية ${isolate(`@${handle}`)}. ` +
        'تنتهي صلاحيته خلال عشر دقائق.\n\n' +
        'لا تشارك هذا الرمز. إذا لم تطلبه، فيمكنك تجاهل هذه الرسالة.\n',
    },
  }
  return mailIn(language, to, letter)
}

/** Builds the notice to an address that was replaced or removed. */
export function emailRemovedMail({ to, handle, authUrl: { host, origin }, brand, language }: About): Mail {
  const letter: Letter = {
    en: {
      subject: `Your e-mail address was removed from ${brand.name}`,
      text:
        `@${handle} at ${host} no longer uses this address.\n\n` +
        `If you didn’t make this change, secure your account: ${origin}/account/activity\n`,
    },
    de: {
      subject: `Deine E-Mail-Adresse wurde bei ${brand.name} entfernt`,
      text:
        `@${handle} auf ${host} verwendet diese Adresse nicht mehr.\n\n` +
        `Wenn du das nicht geändert hast, sichere dein Konto: ${origin}/account/activity\n`,
    },
    ar: {
      subject: `أُزيل عنوان بريدك الإلكتروني من ${isolate(brand.name)}`,
      text:
        `لم تعد الهوية ${isolate(`@${handle}`)} على ${isolate(host)} تستخدم هذا العنوان.\n\n` +
        `إذا لم تُجرِ هذا التغيير، فأمّن حسابك:\n${origin}/account/activity\n`,
    },
  }
  return mailIn(language, to, letter)
}
