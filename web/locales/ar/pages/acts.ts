import type { actMessages as english } from '../../en/pages/acts.ts'
import { isolate } from '@countersign/protocol/formats/registries/languages'
import { counted, numberOf } from '../format.ts'

const asRole = {
  owner: 'مالكًا',
  admin: 'مسؤولًا',
  signer: 'موقِّعًا',
  member: 'عضوًا',
  viewer: 'مُطَّلِعًا',
}

/** Holds the messages of the page that signs changes in organizations. In Arabic. */
export const actMessages: typeof english = {
  title: 'توقيع هذا التغيير',
  acts: {
    'organization.updated': ({ organization }) => `تغيير إعدادات ${isolate(organization)}`,
    'organization.deleted': ({ organization }) => `حذف ${isolate(organization)}`,
    'organization.member.updated': ({ organization, what }) =>
      `تغيير صلاحيات ${isolate(what)} في ${isolate(organization)}`,
    'organization.member.removed': ({ organization, what }) => `إزالة ${isolate(what)} من ${isolate(organization)}`,
    'organization.invitation.created': ({ organization, what }) => `دعوة ${isolate(what)} إلى ${isolate(organization)}`,
    'organization.invitation.revoked': ({ organization, what }) =>
      `إلغاء دعوة ${isolate(what)} إلى ${isolate(organization)}`,
    'organization.domain.added': ({ organization, what }) =>
      `إضافة النطاق ${isolate(what)} إلى ${isolate(organization)}`,
    'organization.domain.verified': ({ organization, what }) =>
      `تأكيد النطاق ${isolate(what)} لمؤسسة ${isolate(organization)}`,
    'organization.domain.removed': ({ organization, what }) =>
      `إزالة النطاق ${isolate(what)} من ${isolate(organization)}`,
    'organization.key.created': ({ organization }) => `إنشاء مفتاح لمؤسسة ${isolate(organization)}`,
    'organization.key.shared': ({ organization }) => `مشاركة مفتاح ${isolate(organization)} مع أعضاء`,
    'organization.key.deleted': ({ organization, what }) =>
      `حذف المفتاح ${isolate(what)} لمؤسسة ${isolate(organization)}`,
    'organization.kms.updated': ({ organization }) => `إعداد KMS لمؤسسة ${isolate(organization)}`,
    'organization.kms.removed': ({ organization }) => `إزالة KMS لمؤسسة ${isolate(organization)}`,
    'sso.connection.created': ({ organization, what }) =>
      `إضافة اتصال SSO ${isolate(what)} إلى ${isolate(organization)}`,
    'sso.connection.updated': ({ organization, what }) =>
      `تغيير اتصال SSO ${isolate(what)} لمؤسسة ${isolate(organization)}`,
    'sso.connection.confirmed': ({ organization, what }) =>
      `تأكيد اتصال SSO ${isolate(what)} لمؤسسة ${isolate(organization)}`,
    'sso.connection.deleted': ({ organization, what }) =>
      `حذف اتصال SSO ${isolate(what)} لمؤسسة ${isolate(organization)}`,
    'sso.encryption_key.created': ({ organization, what }) =>
      `نشر مفتاح تشفير SAML للاتصال ${isolate(what)} لمؤسسة ${isolate(organization)}`,
    'sso.encryption_key.removed': ({ organization, what }) =>
      `إزالة مفتاح تشفير SAML للاتصال ${isolate(what)} لمؤسسة ${isolate(organization)}`,
    'scim.token.created': ({ organization, what }) =>
      `إنشاء رمز SCIM مميز للاتصال ${isolate(what)} لمؤسسة ${isolate(organization)}`,
    'scim.token.revoked': ({ organization, what }) =>
      `إزالة SCIM من الاتصال ${isolate(what)} لمؤسسة ${isolate(organization)}`,
    'organization.signatory.admitted': ({ organization, what }) =>
      `قبول ${isolate(what)} في مجلس ${isolate(organization)}`,
    'organization.signatory.suspended': ({ organization, what }) =>
      `تعليق عضوية ${isolate(what)} في مجلس ${isolate(organization)}`,
    'organization.council.reset_requested': ({ organization }) => `طلب إنهاء مجلس ${isolate(organization)} دون موافقته`,
    'organization.council.reset': ({ organization }) => `إنهاء مجلس ${isolate(organization)} دون موافقته`,
  },
  leave: ({ organization }) => `مغادرة ${isolate(organization)}`,
  role: ({ organization, what }, role) => `جعل ${isolate(what)} ${asRole[role]} في ${isolate(organization)}`,
  settings: {
    name: ({ organization }, value) => `تغيير اسم ${isolate(organization)} إلى ${isolate(value)}`,
    requireSignedActions: {
      on: ({ organization }) => `اشتراط التوقيع على التغييرات في ${isolate(organization)}`,
      off: ({ organization }) => `جعل التوقيع اختياريًا في ${isolate(organization)}`,
    },
    approvalsNeeded: {
      found: ({ organization }, count) =>
        counted(count, {
          one: `تأسيس مجلس لمؤسسة ${isolate(organization)}: كل توقيع يحتاج إلى موافقة واحدة`,
          two: `تأسيس مجلس لمؤسسة ${isolate(organization)}: كل توقيع يحتاج إلى موافقتين`,
          few: `تأسيس مجلس لمؤسسة ${isolate(organization)}: كل توقيع يحتاج إلى # موافقات`,
          many: `تأسيس مجلس لمؤسسة ${isolate(organization)}: كل توقيع يحتاج إلى # موافقة`,
          other: `تأسيس مجلس لمؤسسة ${isolate(organization)}: كل توقيع يحتاج إلى # موافقة`,
        }),
      change: ({ organization }, count) =>
        counted(count, {
          one: `اشتراط موافقة واحدة في مجلس ${isolate(organization)}`,
          two: `اشتراط موافقتين في مجلس ${isolate(organization)}`,
          few: `اشتراط # موافقات في مجلس ${isolate(organization)}`,
          many: `اشتراط # موافقة في مجلس ${isolate(organization)}`,
          other: `اشتراط # موافقة في مجلس ${isolate(organization)}`,
        }),
      end: ({ organization }) => `إنهاء مجلس ${isolate(organization)}`,
    },
    ssoRequired: {
      on: ({ organization }) => `اشتراط SSO في ${isolate(organization)}`,
      off: ({ organization }) => `إلغاء اشتراط SSO في ${isolate(organization)}`,
    },
  },
  unknown: (action, organization) => `${isolate(action)} في ${isolate(organization)}`,
  becomes: 'يصبح',
  what: 'يؤكد مفتاح المرور التغيير، وتحتفظ مؤسستك بتوقيعك في سجل التدقيق.',
  whatDeletes: 'يؤكد مفتاح المرور التغيير.',
  exact: 'ما الذي يُوقَّع بالضبط',
  exactChange: 'التغيير',
  exactStatement: 'الإفادة الموقّعة',
  incomplete: 'لا يمكن وصف كل ما في هذا التغيير بالكلمات. اقرأ البيانات الدقيقة حتى النهاية.',
  signatories: 'أعضاء المجلس',
  may: { sign: 'يوقّع', approve: 'يوافق', both: 'يوقّع ويوافق' },
  ends: {
    founded: 'بعد ذلك لا يوقّع باسم المؤسسة ولا يوافق إلا هؤلاء الأشخاص، ويقررون معًا من يُضاف إليهم.',
    suspended: 'لا توقيع لهذا الشخص ولا موافقة باسم المؤسسة بعد الآن. ويبقى له حق الاعتراض على إنهاء المجلس.',
    resetRequested:
      `يمكنك إنهاء المجلس بعد ${numberOf(14)} يومًا. ` +
      'تصل إلى أعضائه رسالة بريد، ويستطيع كل منهم الاعتراض حتى ذلك الحين.',
    reset: 'بعد ذلك لا حاجة إلى موافقات. تُظهر إيصالات المؤسسة أن المجلس أُنهي بهذه الطريقة.',
  },
  proposedBy: (who) => `مقدَّم من ${isolate(who)}.`,
  approving: 'يؤكد مفتاح المرور الموافقة. يُنفَّذ التغيير بعد موافقة عدد كافٍ من الآخرين وتوقيع من اقترحه.',
  approve: 'موافقة',
  sign: 'توقيع',
  signAndLeave: 'التوقيع والمغادرة',
  signAnd: {
    'organization.deleted': 'التوقيع والحذف',
    'organization.member.removed': 'التوقيع والإزالة',
    'organization.invitation.created': 'التوقيع والدعوة',
    'organization.invitation.revoked': 'التوقيع والإلغاء',
    'organization.domain.added': 'التوقيع والإضافة',
    'organization.domain.removed': 'التوقيع والإزالة',
    'organization.key.created': 'التوقيع والإنشاء',
    'organization.key.shared': 'التوقيع والمشاركة',
    'organization.key.deleted': 'التوقيع والحذف',
    'sso.connection.created': 'التوقيع والإضافة',
    'sso.connection.deleted': 'التوقيع والحذف',
    'scim.token.created': 'التوقيع والإنشاء',
    'organization.signatory.admitted': 'التوقيع والقبول',
    'organization.signatory.suspended': 'التوقيع والتعليق',
  },
  youSign: 'أنت توقّع هذا التغيير',
  youApprove: 'أنت توافق على هذا التغيير',
  signatory:
    'هذا الشخص عضو في المجلس. ' +
    'إذا ألغى التغيير صلاحيته في التوقيع أو الموافقة، فلن تُحتسب توقيعاته على الطلبات المفتوحة.',
  sessionEnded: 'انتهت جلستك في هذه الأثناء',
  sessionEndedWhy: 'لا يمكن توقيع التغيير إلا في الجلسة التي بدأ فيها. لم يتغير شيء. ارجع وأجرِ التغيير مرة أخرى.',
  decline: 'إلغاء',
  codeWhy: 'أكّد مفتاح المرور هذا التغيير، لكنه لا يستطيع فتح قفل مفتاح التوقيع. أدخل رمز الاسترداد؛ سيبقى صالحًا.',
  whoAreYouWhy: 'سجّل الدخول لترى التغيير وتوقّعه.',
  nothing: 'لا يوجد ما توقّعه هنا',
  nothingWhy: 'نُفّذ هذا التغيير بالفعل أو انتهت صلاحيته أو بدأ في متصفح آخر. لا يحدث هنا شيء آخر.',
  back: 'الرجوع إلى المؤسسة',
  again: 'البدء من جديد',
  stopped: 'لم يُوقَّع أي شيء',
  stoppedWhy: {
    statement:
      'تصف الخدمة هذا التغيير بشكل مختلف عمّا رأيته هنا. ابدأ من جديد. إذا تكرر ذلك، فلا توقّع وأبلغ مشغّل الخدمة.',
    clock: 'تختلف ساعة هذا الجهاز عن ساعة الخدمة بأكثر من عشر دقائق. اضبط وقت الجهاز وتاريخه آليًا، ثم ابدأ من جديد.',
    outdated: 'أُعدّ هذا التغيير قبل شيء آخر فعلته أو رأيته في هذا المتصفح. ابدأ من جديد.',
    superseded: 'أجرى شخص آخر تغييرًا في الوقت نفسه. تحقق مما إذا كان تغييرك لا يزال ضروريًا، ثم ابدأ من جديد.',
    changed: 'ما أردت تغييره غيّره شخص آخر في هذه الأثناء. تحقق منه ثم ابدأ من جديد.',
    expired: 'انقضت الدقائق الخمس لهذا التغيير، أو نُفّذ بالفعل. تحقق منه ثم ابدأ من جديد.',
  },
  results: {
    'organization.invitation.created': {
      title: 'تم إنشاء الدعوة',
      what: 'انسخ هذا الرابط الآن وأرسله. لن يُعرض مرة أخرى، ولا يعمل إلا للشخص الذي دعوته.',
    },
    'scim.token.created': {
      title: 'تم إنشاء رمز SCIM المميز',
      what: 'أدخل القيمتين في دليلك. لن يُعرض الرمز المميز مرة أخرى.',
    },
  },
  values: { link: 'رابط الدعوة', address: 'عنوان SCIM الأساسي', token: 'الرمز المميز' },
  done: 'تم',
}
