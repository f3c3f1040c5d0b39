//! Forms that scripts show to people.

use alloc::{boxed::Box, collections::BTreeMap, format, string::String};

use metatopia_types::{
    Form, ObjectId,
    limits::{CHAT_BYTES_MAX, FORM_CHOICES_MAX, FORM_LABEL_BYTES_MAX, FORM_TAG_BYTES_MAX},
};

use super::{
    ScriptContext,
    described::{DescribedField, DescribedFields},
    fields::{Fields, refused},
    gone,
};
use crate::{HostFault, ScriptEffect, Value, host::ValueKind};

/// What a form may say of itself.
pub(super) const FORM: DescribedFields = DescribedFields {
    what: "a form",
    fields: &[
        DescribedField::new("title", ValueKind::Text),
        DescribedField::new("text", ValueKind::Text),
        DescribedField::new("choices", ValueKind::Array),
        DescribedField::new("field", ValueKind::Text),
        DescribedField::new("tag", ValueKind::Text),
    ],
};

impl ScriptContext {
    /// Shows a form to the person whose avatar `who` is. Nobody sees it who is out of hearing by then.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Argument`] for a field that there is not, a text that is too long, a form that says
    /// nothing, or an object that is no avatar; [`crate::ErrorKind::Type`] for a value of another kind;
    /// [`crate::ErrorKind::Gone`] if there is no such object.
    pub fn ui(&mut self, who: ObjectId, form: &BTreeMap<String, Value>) -> Result<(), HostFault> {
        self.person(who)?;
        let fields = Fields::new(&FORM, form)?;
        let form = Form {
            tag: fields.text("tag", FORM_TAG_BYTES_MAX)?.unwrap_or_default(),
            title: fields.text("title", FORM_LABEL_BYTES_MAX)?.unwrap_or_default(),
            text: fields.text("text", CHAT_BYTES_MAX)?.unwrap_or_default(),
            choices: fields.texts("choices", FORM_CHOICES_MAX, FORM_LABEL_BYTES_MAX)?,
            field: fields.text("field", FORM_LABEL_BYTES_MAX)?,
            offer: None,
        };
        if form.words().all(str::is_empty) {
            return Err(refused(
                "a form says something: a title, a text, choices or a field".into(),
            ));
        }
        self.queue(ScriptEffect::Ui { who, form: Box::new(form) })
    }

    /// Checks that an object is somebody's avatar.
    pub(super) fn person(&self, who: ObjectId) -> Result<(), HostFault> {
        let person = self.view.object(who).ok_or_else(|| gone(who))?;
        match person.player {
            Some(_) => Ok(()),
            None => Err(refused(format!("{} is a thing, and no avatar of a person", person.name))),
        }
    }
}
