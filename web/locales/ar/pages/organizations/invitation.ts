import { isolate } from '@countersign/protocol/formats/registries/languages'
import type { invitationMessages as english } from '../../../en/pages/organizations/invitation.ts'
import { handleOf } from '../../format.ts'

/** Holds the messages of the page of an invitation. In Arabic. */
export const invitationMessages: typeof english = {
  domainRequired: 'يجب أن يحتفظ حسابك بعنوان هذه الهوية. انضم بهوية أخرى.',
  title: (organization) => `الانضمام إلى ${isolate(organization)}`,
  invites: (inviter, role) => `يدعوك ${isolate(inviter)} بدور ${role}.`,
  sentTo: 'أُرسلت إلى',
  role: 'دورك',
  expires: 'تاريخ الانتهاء',
  expiresIn: (days, day) => `بقي ${isolate(days)}، حتى ${isolate(day)}`,
  register: 'إنشاء حساب والانضمام',
  login: 'تسجيل الدخول والانضمام',
  provesEmail: (email) => `يؤكد الرابط في الرسالة أيضًا ${isolate(email)}: فلا تحتاج إلى رمز.`,
  needsEmail: (email) => `انضم بهوية عنوانها المؤكَّد هو ${isolate(email)}.`,
  needsHandle: (handle) => `هذه الدعوة موجّهة إلى ${handleOf(handle)}.`,
  ignore: 'إذا لم تكن تتوقع هذه الدعوة، فيمكنك تجاهلها.',
  as: 'الانضمام باسم',
  join: (name) => `الانضمام باسم ${isolate(name)}`,
  addsEmail: (email, handle) => `يصبح ${isolate(email)} العنوان المؤكَّد لهوية ${handleOf(handle)}.`,
  replacesEmail: (email, before) => `يحل ${isolate(email)} محل ${isolate(before)}، وهو عنوانها حتى الآن.`,
  otherAccount: 'استخدام حساب آخر',
  signedInAs: (handle) => `سجّلت الدخول باسم ${handleOf(handle)}.`,
  identities: 'إدارة هوياتك',
  over: 'لم تعد هذه الدعوة صالحة',
  overWhat: 'قُبلت أو أُلغيت أو انتهت صلاحيتها. اطلب دعوة جديدة.',
  organizations: 'مؤسساتك',
}
