import { type Language, isolate } from '@countersign/protocol/formats/registries/languages'
import type { Config } from '#platform/config/config.ts'
import { type Letter, type Mail, mailIn } from '#platform/outbound/mail.ts'

type About = { to: string; language: Language } & Pick<Config, 'authUrl' | 'brand'>

/** Builds the mail with the code by which an address can register. */
export function registrationCodeMail({ to, authUrl: { host }, brand: { name }, language }: About, code: string): Mail {
  const letter: Letter = {
    en: {
      subject: `Your ${name} registration code`,
      text:
        `${code}\n\n` +
        `Enter this code at ${host} to create an account with this address. It expires in ten minutes.\n\n` +
        `Don’t share this code. If you didn’t request it, you can ignore this e-mail.\n`,
    },
    de: {
      subject: `Dein Registrierungscode für ${name}`,
      text:
        `${code}\n\n` +
        `Gib diesen Code auf ${host} ein, um mit dieser Adresse ein Konto zu erstellen. Er gilt zehn Minuten.\n\n` +
        `Gib den Code nicht weiter. Wenn du ihn nicht angefordert hast, kannst du diese E-Mail ignorieren.\n`,
    },
    ar: {
      subject: `رمز التسجيل الخاص بك في ${isolate(name)}`,
      text:
        `${code}\n\n` +
        `أدخل هذا الرمز على ${isolate(host)} لإنشاء حساب بهذا العنوان. تنتهي صلاحيته خلال عشر دقائق.\n\n` +
        'لا تشارك هذا الرمز. إذا لم تطلبه، فيمكنك تجاهل هذه الرسالة.\n',
    },
  }
  return mailIn(language, to, letter)
}
